// A program on the CUDA runtime: what `<<<…>>>` and the functions around it do. Every case returns 0, or says what is
// wrong and returns 1.

#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

#define OK(call) \
    do { \
        cudaError_t error = (call); \
        if (error != cudaSuccess) { \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error)); \
            return 1; \
        } \
    } while (0)

#define IS(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: not %s\n", __LINE__, #condition); \
            return 1; \
        } \
    } while (0)

__device__ float bias = 1.5f;
__constant__ int table[4];
__managed__ int counted = 5;

__global__ void axpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] + bias;
}

__global__ void look_up(int* out) { out[threadIdx.x] = table[threadIdx.x % 4] + threadIdx.x; }

__global__ void count() { atomicAdd(&counted, 1); }

__global__ void reverse(int* data, int n) {
    extern __shared__ int shared_ints[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) shared_ints[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = shared_ints[n - 1 - i];
}

__global__ void sum_of_blocks(int* parts, int* total) {
    auto grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) parts[blockIdx.x] = blockIdx.x + 1;
    grid.sync();
    if (grid.thread_rank() == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += parts[i];
        *total = sum;
    }
}

__global__ void greet(int number) { printf("block %d says %d\n", blockIdx.x, number); }

__global__ void outside(int* at) { at[100000] = 1; }

static int axpys() {
    const int n = 1000;
    std::vector<float> hx(n), hy(n);
    for (int i = 0; i < n; i++) hx[i] = i, hy[i] = 2 * i;
    float *x, *y;
    OK(cudaMalloc(&x, n * 4));
    OK(cudaMalloc(&y, n * 4));
    OK(cudaMemcpy(x, hx.data(), n * 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(y, hy.data(), n * 4, cudaMemcpyDefault));
    axpy<<<(n + 127) / 128, 128>>>(3.0f, x, y, n);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(hy.data(), y, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) IS(hy[i] == 5.0f * i + 1.5f);
    OK(cudaFree(x));
    OK(cudaFree(y));
    return 0;
}

static int devices() {
    int count, device, runtime, driver, threads;
    OK(cudaGetDeviceCount(&count));
    OK(cudaGetDevice(&device));
    IS(count >= 1 && device == 0);
    cudaDeviceProp is;
    OK(cudaGetDeviceProperties(&is, 0));
    OK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    IS(is.major == 9 && is.minor == 0 && is.warpSize == 32 && is.maxThreadsPerBlock == 1024);
    IS(is.sharedMemPerBlockOptin == 227 * 1024 && is.maxThreadsPerMultiProcessor == threads && is.clusterLaunch == 1);
    IS(strlen(is.name) > 0 && is.totalGlobalMem > 0);
    OK(cudaRuntimeGetVersion(&runtime));
    OK(cudaDriverGetVersion(&driver));
    IS(runtime >= 13000 && driver >= runtime);
    OK(cudaSetDevice(0));
    IS(cudaSetDevice(99) == cudaErrorInvalidDevice);
    IS(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    IS(cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
    IS(!strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice"));
    IS(!strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
    return 0;
}

static int symbols() {
    int values[4] = {10, 20, 30, 40}, back[4], *out, got[32];
    OK(cudaMemcpyToSymbol(table, values, sizeof values));
    OK(cudaMemcpyFromSymbol(back, table, 8, 8));
    IS(back[0] == 30 && back[1] == 40);
    OK(cudaMalloc(&out, sizeof got));
    look_up<<<1, 32>>>(out);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) IS(got[i] == 10 * (i % 4 + 1) + i);
    void* address;
    size_t size;
    OK(cudaGetSymbolAddress(&address, bias));
    OK(cudaGetSymbolSize(&size, table));
    IS(size == 16);
    float changed = 2.5f, read;
    OK(cudaMemcpy(address, &changed, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromSymbol(&read, bias, 4));
    IS(read == 2.5f);
    IS(cudaMemcpyToSymbol(table, values, 8, 12) == cudaErrorInvalidValue);
    IS(counted == 5);
    count<<<4, 8>>>();
    OK(cudaDeviceSynchronize());
    IS(counted == 37);
    return 0;
}

static int kernels() {
    const int n = 20000;
    std::vector<int> host(n);
    for (int i = 0; i < n; i++) host[i] = i;
    int* data;
    OK(cudaMalloc(&data, n * 4));
    OK(cudaMemcpy(data, host.data(), n * 4, cudaMemcpyHostToDevice));
    reverse<<<1, 256, n * 4>>>(data, n);
    IS(cudaGetLastError() == cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 4));
    reverse<<<1, 256, n * 4>>>(data, n);
    OK(cudaMemcpy(host.data(), data, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) IS(host[i] == n - 1 - i);
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, reverse));
    IS(attributes.maxThreadsPerBlock == 1024 && attributes.maxDynamicSharedSizeBytes == n * 4);
    IS(attributes.binaryVersion == 90);
    int blocks;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, axpy, 1024, 0));
    IS(blocks == 2);
    int *parts, *total, sum;
    OK(cudaMalloc(&parts, 64));
    OK(cudaMalloc(&total, 4));
    void* args[] = {&parts, &total};
    OK(cudaLaunchCooperativeKernel(sum_of_blocks, dim3(8), dim3(32), args, 0, nullptr));
    OK(cudaMemcpy(&sum, total, 4, cudaMemcpyDeviceToHost));
    IS(sum == 36);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(1);
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, greet, 7));
    OK(cudaDeviceSynchronize());
    axpy<<<0, 1>>>(1, nullptr, nullptr, 0);
    IS(cudaGetLastError() == cudaErrorInvalidConfiguration);
    return 0;
}

static int memory() {
    char* rows;
    size_t pitch;
    OK(cudaMallocPitch(&rows, &pitch, 10, 5));
    IS(pitch >= 10);
    OK(cudaMemset2D(rows, pitch, 7, 10, 5));
    char host[5][12] = {};
    OK(cudaMemcpy2D(host, 12, rows, pitch, 10, 5, cudaMemcpyDeviceToHost));
    for (auto& row : host) IS(row[0] == 7 && row[9] == 7 && row[10] == 0);
    IS(cudaMemcpy2D(host, 4, rows, pitch, 10, 5, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
    cudaPitchedPtr box;
    OK(cudaMalloc3D(&box, make_cudaExtent(8, 3, 2)));
    OK(cudaMemset3D(box, 3, make_cudaExtent(8, 3, 2)));
    char cube[2][3][8] = {};
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(cube, 8, 8, 3);
    copy.extent = make_cudaExtent(8, 3, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    IS(cube[0][0][0] == 3 && cube[1][2][7] == 3);
    cudaPointerAttributes is;
    OK(cudaPointerGetAttributes(&is, rows));
    IS(is.type == cudaMemoryTypeDevice && is.device == 0 && is.devicePointer == rows);
    OK(cudaPointerGetAttributes(&is, host));
    IS(is.type == cudaMemoryTypeUnregistered);
    OK(cudaPointerGetAttributes(&is, &counted));
    IS(is.type == cudaMemoryTypeManaged);
    int *pinned, *pooled;
    OK(cudaMallocHost(&pinned, 64));
    OK(cudaPointerGetAttributes(&is, pinned));
    IS(is.type == cudaMemoryTypeHost);
    OK(cudaMallocAsync(&pooled, 64, nullptr));
    OK(cudaMemsetAsync(pooled, 1, 64, nullptr));
    OK(cudaMemcpyAsync(pinned, pooled, 64, cudaMemcpyDefault, nullptr));
    OK(cudaFreeAsync(pooled, nullptr));
    OK(cudaStreamSynchronize(nullptr));
    IS(pinned[15] == 0x01010101);
    OK(cudaFreeHost(pinned));
    OK(cudaFree(nullptr));
    IS(cudaFree(host) == cudaErrorInvalidValue);
    return 0;
}

static int streams() {
    cudaStream_t a, b;
    cudaEvent_t start, end;
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    float *x, ms = -1;
    OK(cudaMalloc(&x, 256));
    OK(cudaMemsetAsync(x, 0, 256, a));
    OK(cudaEventRecord(start, a));
    axpy<<<1, 64, 0, a>>>(1, x, x, 64);
    OK(cudaEventRecord(end, a));
    OK(cudaStreamWaitEvent(b, end));
    axpy<<<1, 64, 0, b>>>(1, x, x, 64);
    OK(cudaStreamSynchronize(b));
    OK(cudaEventElapsedTime(&ms, start, end));
    IS(ms >= 0);
    float got;
    OK(cudaMemcpy(&got, x, 4, cudaMemcpyDeviceToHost));
    IS(got == 4.5f);
    int called = 0;
    OK(cudaLaunchHostFunc(a, [](void* p) { *static_cast<int*>(p) = 1; }, &called));
    OK(cudaStreamSynchronize(a));
    IS(called == 1);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(x, 0, 256, a));
    axpy<<<1, 64, 0, a>>>(1, x, x, 64);
    OK(cudaStreamEndCapture(a, &graph));
    cudaGraphNode_t nodes[2], more;
    size_t count = 2;
    OK(cudaGraphGetNodes(graph, nodes, &count));
    IS(count == 2);
    float one = 1;
    int n = 64;
    void* args[] = {&one, &x, &x, &n};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void*>(axpy);
    params.gridDim = dim3(1);
    params.blockDim = dim3(64);
    params.kernelParams = args;
    OK(cudaGraphAddKernelNode(&more, graph, &nodes[1], 1, &params));
    OK(cudaGraphInstantiate(&ready, graph));
    for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(ready, b));
    OK(cudaStreamSynchronize(b));
    OK(cudaMemcpy(&got, x, 4, cudaMemcpyDeviceToHost));
    IS(got == 4.5f);
    OK(cudaGraphExecDestroy(ready));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaEventDestroy(start));
    return 0;
}

static int threads() {
    std::vector<std::thread> all;
    int failed[4] = {};
    for (int i = 0; i < 4; i++) all.emplace_back([&failed, i] { failed[i] = axpys(); });
    for (auto& one : all) one.join();
    for (int f : failed) IS(f == 0);
    return 0;
}

static int fault() {
    int* at;
    OK(cudaMalloc(&at, 64));
    outside<<<1, 1>>>(at);
    IS(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    IS(cudaMalloc(&at, 64) == cudaErrorIllegalAddress);
    return 0;
}

static int prints() {
    greet<<<1, 1>>>(42);
    OK(cudaDeviceSynchronize());
    return 0;
}

int main(int count, char** names) {
    struct {
        const char* name;
        int (*run)();
    } cases[] = {
        {"axpys", axpys},     {"devices", devices}, {"symbols", symbols}, {"kernels", kernels}, {"memory", memory},
        {"streams", streams}, {"threads", threads}, {"fault", fault},     {"prints", prints},
    };
    for (auto& one : cases)
        if (count == 2 && !strcmp(names[1], one.name)) return one.run();
    printf("no such case\n");
    return 1;
}

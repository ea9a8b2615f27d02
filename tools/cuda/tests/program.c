/* Programs with the driver API, as an application writes them: `program CASE [FILE …]`.
 * Compiled with NVIDIA's own cuda.h, so that functions, structures and constants are NVIDIA's. */
#include <cuda.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                          \
    do {                                                                     \
        CUresult result_ = (call);                                           \
        if (result_ != CUDA_SUCCESS) {                                       \
            const char *name_ = "?";                                         \
            cuGetErrorName(result_, &name_);                                 \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, name_);    \
            exit(1);                                                         \
        }                                                                    \
    } while (0)
#define EXPECT(condition)                                                    \
    do {                                                                     \
        if (!(condition)) {                                                  \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);  \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

/* y[i] = a * x[i] + y[i] for i < n; `launches` counts. */
static const char axpy[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .u32 launches;\n"
    ".visible .const .f32 half = 0f3F000000;\n"
    ".visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)\n"
    "{\n"
    ".reg .pred %p<3>; .reg .f32 %f<5>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    "ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "setp.ne.s32 %p2, %r5, 0; @%p2 bra SKIP;\n"
    "atom.global.add.u32 %r6, [launches], 1;\n"
    "SKIP: setp.ge.s32 %p1, %r5, %r1; @%p1 bra DONE;\n"
    "mul.wide.s32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
    "ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [%rd5]; fma.rn.f32 %f4, %f1, %f2, %f3;\n"
    "st.global.f32 [%rd5], %f4;\n"
    "DONE: ret;\n"
    "}\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry spin() { AGAIN: bra AGAIN; }\n"
    ".visible .entry stop() { trap; }\n";

static CUcontext context;
static CUdevice device;

static void start(void)
{
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

static CUfunction function(CUmodule *module, const char *name)
{
    CUfunction f;
    CHECK(cuModuleLoadData(module, axpy));
    CHECK(cuModuleGetFunction(&f, *module, name));
    return f;
}

static void launch_axpy(CUfunction f, float a, CUdeviceptr x, CUdeviceptr y, int n, CUstream stream)
{
    void *params[] = {&a, &x, &y, &n};
    CHECK(cuLaunchKernel(f, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL));
}

enum { N = 1000 };

static void fill(float *x, float *y)
{
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = 1;
    }
}

static int basics(void)
{
    int count, major, version;
    char name[64];
    start();
    CHECK(cuDeviceGetCount(&count));
    EXPECT(count == 1);
    CHECK(cuDriverGetVersion(&version));
    EXPECT(version >= 13000);
    CHECK(cuDeviceGetName(name, sizeof name, device));
    EXPECT(strlen(name) > 0);
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    EXPECT(major == 9);

    CUmodule module;
    CUfunction f = function(&module, "axpy");
    CUdeviceptr x, y;
    float hx[N], hy[N];
    fill(hx, hy);
    CHECK(cuMemAlloc(&x, sizeof hx));
    CHECK(cuMemAlloc(&y, sizeof hy));
    CUstream stream;
    CUevent begin, end;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    CHECK(cuMemcpyHtoDAsync(x, hx, sizeof hx, stream));
    CHECK(cuMemcpyHtoDAsync(y, hy, sizeof hy, stream));
    CHECK(cuEventRecord(begin, stream));
    launch_axpy(f, 2, x, y, N, stream);
    CHECK(cuEventRecord(end, stream));
    CHECK(cuStreamWaitEvent(0, end, 0));
    CHECK(cuMemcpyDtoH(hy, y, sizeof hy));
    for (int i = 0; i < N; i++)
        EXPECT(hy[i] == 2.0f * i + 1);
    float ms;
    CHECK(cuEventElapsedTime(&ms, begin, end));
    EXPECT(ms >= 0);

    /* Variables outlive launches. */
    CUdeviceptr variable;
    size_t bytes;
    unsigned launches;
    float half;
    CHECK(cuModuleGetGlobal(&variable, &bytes, module, "launches"));
    EXPECT(bytes == 4);
    CHECK(cuMemcpyDtoH(&launches, variable, 4));
    EXPECT(launches == 1);
    launch_axpy(f, 2, x, y, N, 0);
    CHECK(cuMemcpyDtoH(&launches, variable, 4));
    EXPECT(launches == 2);
    CHECK(cuModuleGetGlobal(&variable, &bytes, module, "half"));
    CHECK(cuMemcpyDtoH(&half, variable, 4));
    EXPECT(half == 0.5f);

    /* Sizes that do not fit are errors, not accidents. */
    EXPECT(cuMemcpyDtoH(hy, y, sizeof hy + 4) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFree(x + 4) == CUDA_ERROR_INVALID_VALUE);
    CUfunction missing;
    EXPECT(cuModuleGetFunction(&missing, module, "nobody") == CUDA_ERROR_NOT_FOUND);
    int threads;
    CHECK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    EXPECT(threads == 1024);
    int code, made;
    CHECK(cuFuncGetAttribute(&code, CU_FUNC_ATTRIBUTE_PTX_VERSION, f));
    CHECK(cuFuncGetAttribute(&made, CU_FUNC_ATTRIBUTE_BINARY_VERSION, f));
    EXPECT(code == 75 && made == 90);
    unsigned type;
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, y + 8));
    EXPECT(type == CU_MEMORYTYPE_DEVICE);
    CHECK(cuMemFree(x));
    EXPECT(cuMemFree(x) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuModuleUnload(module));
    EXPECT(cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cuStreamDestroy(stream));
    return 0;
}

/* Registered host memory, managed memory and pointers from cuMemHostAlloc, all at their own addresses. */
static int host_memory(void)
{
    start();
    CUmodule module;
    CUfunction f = function(&module, "axpy");
    float *pinned, *registered = malloc(N * sizeof *registered);
    CUdeviceptr managed;
    CHECK(cuMemHostAlloc((void **)&pinned, N * sizeof *pinned, 0));
    CHECK(cuMemAllocManaged(&managed, N * sizeof(float), CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemHostRegister(registered, N * sizeof *registered, 0));
    EXPECT(cuMemHostRegister(registered, 16, 0) == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    CUdeviceptr p;
    CHECK(cuMemHostGetDevicePointer(&p, pinned, 0));
    fill((float *)managed, registered);
    fill(pinned, registered);
    launch_axpy(f, 3, p, (CUdeviceptr)registered, N, 0);
    launch_axpy(f, 1, managed, (CUdeviceptr)registered, N, 0);
    CHECK(cuCtxSynchronize());
    for (int i = 0; i < N; i++)
        EXPECT(registered[i] == 4.0f * i + 1);
    CHECK(cuMemHostUnregister(registered));
    EXPECT(cuMemHostUnregister(registered) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFree(managed));
    return 0;
}

static void set_flag(void *data) { *(int *)data += 1; }

/* A stream that waits for a value holds what comes behind it back, and what waits for its event. */
static int waits(void)
{
    start();
    CUmodule module;
    CUfunction f = function(&module, "axpy");
    CUdeviceptr x, y, flag;
    float hx[N], hy[N];
    fill(hx, hy);
    CHECK(cuMemAlloc(&x, sizeof hx));
    CHECK(cuMemAlloc(&y, sizeof hy));
    CHECK(cuMemAlloc(&flag, 4));
    CHECK(cuMemcpyHtoD(x, hx, sizeof hx));
    CHECK(cuMemcpyHtoD(y, hy, sizeof hy));
    CUstream first, second;
    CUevent event;
    int called = 0;
    CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuStreamWaitValue32(first, flag, 7, CU_STREAM_WAIT_VALUE_EQ));
    launch_axpy(f, 2, x, y, N, first);
    CHECK(cuEventRecord(event, first));
    CHECK(cuStreamWaitEvent(second, event, 0));
    CHECK(cuLaunchHostFunc(second, set_flag, &called));
    EXPECT(cuStreamQuery(first) == CUDA_ERROR_NOT_READY);
    EXPECT(cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    EXPECT(called == 0);
    float one;
    CUstream third;
    CHECK(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemcpyDtoHAsync(&one, y + 4, 4, third));
    CHECK(cuStreamSynchronize(third));
    EXPECT(one == 1);
    CHECK(cuStreamWriteValue32(third, flag, 7, 0));
    CHECK(cuStreamSynchronize(second));
    EXPECT(called == 1);
    CHECK(cuStreamQuery(first));
    CHECK(cuMemcpyDtoH(&one, y + 4, 4));
    EXPECT(one == 3);
    return 0;
}

static int graphs(void)
{
    start();
    CUmodule module;
    CUfunction f = function(&module, "axpy");
    CUdeviceptr x, y;
    float hx[N], hy[N], a = 1;
    int n = N;
    fill(hx, hy);
    CHECK(cuMemAlloc(&x, sizeof hx));
    CHECK(cuMemAlloc(&y, sizeof hy));
    CHECK(cuMemcpyHtoD(x, hx, sizeof hx));

    /* By hand: y is cleared, then two kernels. */
    CUgraph graph;
    CUgraphNode clear, kernel, again;
    CUgraphExec exec;
    CHECK(cuGraphCreate(&graph, 0));
    void *params[] = {&a, &x, &y, &n};
    CUDA_KERNEL_NODE_PARAMS k = {.func = f, .gridDimX = 8, .gridDimY = 1, .gridDimZ = 1,
        .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1, .kernelParams = params};
    CUDA_MEMSET_NODE_PARAMS m = {.dst = y, .elementSize = 4, .width = N, .height = 1, .value = 0};
    CHECK(cuGraphAddKernelNode(&kernel, graph, NULL, 0, &k));
    CHECK(cuGraphAddMemsetNode(&clear, graph, NULL, 0, &m, context));
    CHECK(cuGraphAddKernelNode(&again, graph, &kernel, 1, &k));
    CHECK(cuGraphAddDependencies(graph, &clear, &kernel, NULL, 1));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; round++)
        CHECK(cuGraphLaunch(exec, 0));
    CHECK(cuMemcpyDtoH(hy, y, sizeof hy));
    for (int i = 0; i < N; i++)
        EXPECT(hy[i] == 2.0f * i);
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));

    /* By capture, with a second stream that joins. */
    CUstream stream, other;
    CUevent fork_, join;
    CHECK(cuStreamCreate(&stream, 0));
    CHECK(cuStreamCreate(&other, 0));
    CHECK(cuEventCreate(&fork_, 0));
    CHECK(cuEventCreate(&join, 0));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch_axpy(f, 1, x, y, N, stream);
    CHECK(cuEventRecord(fork_, stream));
    CHECK(cuStreamWaitEvent(other, fork_, 0));
    launch_axpy(f, 1, x, y, N, other);
    CHECK(cuEventRecord(join, other));
    CHECK(cuStreamWaitEvent(stream, join, 0));
    CUstreamCaptureStatus status;
    CHECK(cuStreamIsCapturing(other, &status));
    EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuMemcpyDtoH(hy, y, sizeof hy));
    EXPECT(hy[1] == 2);
    size_t nodes;
    CHECK(cuGraphGetNodes(graph, NULL, &nodes));
    EXPECT(nodes == 2);
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(hy, y, sizeof hy));
    EXPECT(hy[1] == 4);
    return 0;
}

/* A kernel that runs out of bounds: later calls return its error. */
static int fault(void)
{
    start();
    CUmodule module;
    CUfunction f = function(&module, "axpy");
    CUdeviceptr x, y;
    CHECK(cuMemAlloc(&x, N * sizeof(float)));
    CHECK(cuMemAlloc(&y, (N - 1) * sizeof(float)));
    float a = 1;
    int n = N;
    void *params[] = {&a, &x, &y, &n};
    CUresult result = cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, 0, params, NULL);
    if (result == CUDA_SUCCESS)
        result = cuCtxSynchronize();
    EXPECT(result == CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(cuMemAlloc(&x, 16) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(cuDevicePrimaryCtxReset(device));
    CHECK(cuMemAlloc(&x, 16));
    return 0;
}

static int unsupported(void)
{
    start();
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR description = {0};
    EXPECT(cuArrayCreate(&array, &description) == CUDA_ERROR_NOT_SUPPORTED);
    EXPECT(cuArrayCreate(&array, &description) == CUDA_ERROR_NOT_SUPPORTED);
    void *address;
    CUdriverProcAddressQueryResult how;
    CHECK(cuGetProcAddress("cuMemAlloc", &address, 13000, 0, &how));
    EXPECT(how == CU_GET_PROC_ADDRESS_SUCCESS && address == (void *)cuMemAlloc);
    cuGetProcAddress("cuNonsense", &address, 13000, 0, &how);
    EXPECT(how == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND && address == NULL);
    const char *text;
    CHECK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
    EXPECT(strcmp(text, "invalid argument") == 0);
    EXPECT(cuGetErrorString((CUresult)12345, &text) == CUDA_ERROR_INVALID_VALUE);
    return 0;
}

static CUfunction shared_function;

static void *thread(void *data)
{
    CHECK(cuCtxSetCurrent(context));
    CUdeviceptr x, y;
    float hx[N], hy[N];
    fill(hx, hy);
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&x, sizeof hx));
    CHECK(cuMemAlloc(&y, sizeof hy));
    CHECK(cuMemcpyHtoDAsync(x, hx, sizeof hx, stream));
    CHECK(cuMemcpyHtoDAsync(y, hy, sizeof hy, stream));
    for (int i = 0; i < 20; i++)
        launch_axpy(shared_function, 1, x, y, N, stream);
    CHECK(cuMemcpyDtoHAsync(hy, y, sizeof hy, stream));
    CHECK(cuStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        EXPECT(hy[i] == 20.0f * i + 1);
    CHECK(cuMemFree(x));
    CHECK(cuMemFree(y));
    return data;
}

static int threads(void)
{
    start();
    CUmodule module;
    shared_function = function(&module, "axpy");
    pthread_t ids[8];
    for (int i = 0; i < 8; i++)
        EXPECT(pthread_create(&ids[i], NULL, thread, NULL) == 0);
    for (int i = 0; i < 8; i++)
        pthread_join(ids[i], NULL);
    /* A child has memory and modules, and threads of its own. */
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        thread(NULL);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    thread(NULL);
    return 0;
}

/* Runs when the thread's own values are gone, as destructors of other libraries do. */
static void last_call(void *data)
{
    CUcontext found, popped;
    CHECK(cuCtxGetCurrent(&found));
    EXPECT(found == context);
    CHECK(cuStreamSynchronize(NULL));
    CHECK(cuCtxPopCurrent(&popped));
    EXPECT(popped == context);
    *(int *)data += 1;
}

static pthread_key_t last;

static void *covers(void *data)
{
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuCtxPushCurrent(context));
    EXPECT(pthread_setspecific(last, data) == 0);
    return NULL;
}

/* `thread_end`: a thread calls the driver while it ends. */
static int thread_end(void)
{
    start();
    int calls = 0;
    pthread_t id;
    EXPECT(pthread_key_create(&last, last_call) == 0);
    EXPECT(pthread_create(&id, NULL, covers, &calls) == 0);
    pthread_join(id, NULL);
    EXPECT(calls == 1);
    return 0;
}

/* A pool counts what is allocated from it, and nothing else. */
static int pools(void)
{
    start();
    CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    CUmemoryPool pool, own, found;
    CHECK(cuMemPoolCreate(&pool, &properties));
    CHECK(cuDeviceGetDefaultMemPool(&own, 0));
    CUdeviceptr elsewhere, block;
    CHECK(cuMemAllocAsync(&elsewhere, 4096, NULL));
    cuuint64_t used;
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT(used == 0);
    CHECK(cuDeviceSetMemPool(0, pool));
    CHECK(cuDeviceGetMemPool(&found, 0));
    EXPECT(found == pool);
    CHECK(cuMemAllocAsync(&block, 1000, NULL));
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT(used >= 1000);
    CHECK(cuMemFreeAsync(block, NULL));
    CHECK(cuStreamSynchronize(NULL));
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT(used == 0);
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
    EXPECT(used >= 1000);
    used = 0;
    CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
    EXPECT(used == 0);
    used = 1 << 20;
    CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &used));
    used = 0;
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &used));
    EXPECT(used == 1 << 20);
    CHECK(cuMemPoolDestroy(pool));
    CHECK(cuDeviceGetMemPool(&found, 0));
    EXPECT(found == own);
    CHECK(cuMemFree(elsewhere));
    return 0;
}

static long resident_pages(void)
{
    long size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%ld %ld", &size, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return resident;
}

/* `many COUNT`: that many launches, allocations and events leave memory where it was. */
static int many(int count)
{
    start();
    CUmodule module;
    CUfunction f = function(&module, "nothing");
    long before = 0;
    for (int i = 0; i < count; i++) {
        if (i == count / 10)
            before = resident_pages();
        CUdeviceptr p;
        CUevent event;
        CHECK(cuMemAlloc(&p, 4096));
        CHECK(cuEventCreate(&event, 0));
        CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, NULL, NULL));
        CHECK(cuEventRecord(event, 0));
        CHECK(cuEventDestroy(event));
        CHECK(cuMemFree(p));
    }
    long grown = resident_pages() - before;
    printf("%ld pages more\n", grown);
    EXPECT(grown < 256);
    return 0;
}

/* `grid BLOCKS`: a large grid of blocks that do nothing. */
static int grid(unsigned blocks)
{
    start();
    CUmodule module;
    CUfunction f = function(&module, "nothing");
    CHECK(cuLaunchKernel(f, blocks, 1, 1, 128, 1, 1, 0, 0, NULL, NULL));
    CHECK(cuCtxSynchronize());
    return 0;
}

static void *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    EXPECT(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *bytes = calloc(1, size + 1);
    EXPECT(fread(bytes, 1, size, file) == (size_t)size);
    fclose(file);
    return bytes;
}

/* A kernel that never ends, for those who kill the process. */
static int spin(void)
{
    start();
    CUmodule module;
    CUfunction f = function(&module, "spin");
    CUdeviceptr memory;
    CHECK(cuMemAlloc(&memory, 1 << 20));
    puts("spinning");
    fflush(stdout);
    CHECK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, 0, NULL, NULL));
    return 0;
}

/* `vadd FILE`: tests/corpus/bytecode/vadd/f32, as an image: z = x + y in tiles of 1024 elements. */
static int vadd(const char *path)
{
    start();
    void *image = read_file(path);
    CUlibrary library;
    CUkernel kernel;
    CUfunction f;
    CHECK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    free(image);
    CHECK(cuLibraryGetKernel(&kernel, library, "vadd"));
    CHECK(cuKernelGetFunction(&f, kernel));
    float hx[N], hy[N], hz[N];
    fill(hx, hy);
    CUdeviceptr x, y, z;
    CHECK(cuMemAlloc(&x, sizeof hx));
    CHECK(cuMemAlloc(&y, sizeof hy));
    CHECK(cuMemAlloc(&z, sizeof hz));
    CHECK(cuMemcpyHtoD(x, hx, sizeof hx));
    CHECK(cuMemcpyHtoD(y, hy, sizeof hy));
    int n = N, one = 1;
    /* As cuTile passes arrays: address, extents, strides. Tile kernels are launched with blocks of one. */
    void *params[] = {&x, &n, &one, &y, &n, &one, &z, &n, &one};
    CHECK(cuLaunchKernel(f, (N + 1023) / 1024, 1, 1, 1, 1, 1, 0, 0, params, NULL));
    CHECK(cuMemcpyDtoH(hz, z, sizeof hz));
    for (int i = 0; i < N; i++)
        EXPECT(hz[i] == i + 1.0f);

    /* The same as a node of a graph, and recorded from a stream. */
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUstream stream;
    CUDA_KERNEL_NODE_PARAMS p = {.func = f, .gridDimX = (N + 1023) / 1024, .gridDimY = 1, .gridDimZ = 1,
        .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .kernelParams = params};
    CHECK(cuStreamCreate(&stream, 0));
    for (int recorded = 0; recorded < 2; recorded++) {
        CHECK(cuMemsetD8(z, 0, sizeof hz));
        if (recorded) {
            CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            CHECK(cuLaunchKernel((CUfunction)kernel, p.gridDimX, 1, 1, 1, 1, 1, 0, stream, params, NULL));
            CHECK(cuStreamEndCapture(stream, &graph));
        } else {
            CHECK(cuGraphCreate(&graph, 0));
            CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
        }
        CHECK(cuGraphInstantiate(&exec, graph, 0));
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemcpyDtoH(hz, z, sizeof hz));
        for (int i = 0; i < N; i++)
            EXPECT(hz[i] == i + 1.0f);
    }

    /* By a configuration and one buffer of all parameters. */
    struct { CUdeviceptr x; int xn, xs; CUdeviceptr y; int yn, ys; CUdeviceptr z; int zn, zs; } all =
        {x, n, 1, y, n, 1, z, n, 1};
    size_t size = sizeof all;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CUlaunchConfig config = {.gridDimX = p.gridDimX, .gridDimY = 1, .gridDimZ = 1,
        .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .hStream = stream};
    CHECK(cuMemsetD8(z, 0, sizeof hz));
    CHECK(cuLaunchKernelEx(&config, f, NULL, extra));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(hz, z, sizeof hz));
    for (int i = 0; i < N; i++)
        EXPECT(hz[i] == i + 1.0f);
    CHECK(cuLibraryUnload(library));
    return 0;
}

/* `count FILE`: each launch adds one to a variable of the module, which the host sees, and stores it. */
static int count(const char *path)
{
    start();
    void *image = read_file(path);
    CUlibrary library;
    CUkernel kernel;
    CUdeviceptr variable, out;
    size_t bytes;
    int seen = 0;
    CHECK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    free(image);
    CHECK(cuLibraryGetKernel(&kernel, library, "count"));
    CHECK(cuLibraryGetGlobal(&variable, &bytes, library, "counter"));
    EXPECT(bytes == sizeof seen);
    CHECK(cuMemAlloc(&out, sizeof seen));
    void *params[] = {&out};
    for (int i = 0; i < 3; i++) {
        CHECK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, 0, params, NULL));
        CHECK(cuMemcpyDtoH(&seen, out, sizeof seen));
        EXPECT(seen == 41 + i);
        CHECK(cuMemcpyDtoH(&seen, variable, sizeof seen));
        EXPECT(seen == 41 + i);
    }
    CHECK(cuLibraryUnload(library));
    return 0;
}

/* `matmul FILE M N K TILE_M TILE_N`: C = A * B in f16 with tensor maps where the target has them. */
static int matmul(const char *path, int m, int n, int k, int tile_m, int tile_n, const char *entry)
{
    start();
    CUmodule module;
    CUfunction f;
    void *image = read_file(path);
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuModuleGetFunction(&f, module, entry));
    /* Powers of two, exact in half: bits 0x3c00 is 1. */
    unsigned short *ha = malloc(2 * m * k), *hb = malloc(2 * k * n);
    float *hc = malloc(4 * m * n);
    for (int i = 0; i < m * k; i++)
        ha[i] = (i * 7) % 3 ? 0x3c00 : 0xbc00;
    for (int i = 0; i < k * n; i++)
        hb[i] = (i * 5) % 4 ? 0x3c00 : 0x4000;
    CUdeviceptr a, b, c;
    CHECK(cuMemAlloc(&a, 2 * m * k));
    CHECK(cuMemAlloc(&b, 2 * k * n));
    CHECK(cuMemAlloc(&c, 4 * m * n));
    CHECK(cuMemcpyHtoD(a, ha, 2 * m * k));
    CHECK(cuMemcpyHtoD(b, hb, 2 * k * n));
    int one = 1;
    void *params[] = {&a, &m, &k, &k, &one, &b, &k, &n, &n, &one, &c, &m, &n, &n, &one};
    CHECK(cuLaunchKernel(f, m / tile_m * (n / tile_n), 1, 1, 1, 1, 1, 0, 0, params, NULL));
    CHECK(cuMemcpyDtoH(hc, c, 4 * m * n));
    for (int i = 0; i < m; i += 7)
        for (int j = 0; j < n; j += 5) {
            float sum = 0;
            for (int l = 0; l < k; l++)
                sum += (ha[i * k + l] == 0x3c00 ? 1.0f : -1.0f) * (hb[l * n + j] == 0x3c00 ? 1.0f : 2.0f);
            EXPECT(hc[i * n + j] == sum);
        }
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    struct { const char *name; int (*run)(void); } cases[] = {
        {"basics", basics}, {"host_memory", host_memory}, {"waits", waits}, {"graphs", graphs},
        {"fault", fault}, {"unsupported", unsupported}, {"threads", threads}, {"spin", spin},
        {"thread_end", thread_end}, {"pools", pools},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0)
            return cases[i].run();
    if (strcmp(name, "vadd") == 0 && argc == 3)
        return vadd(argv[2]);
    if (strcmp(name, "count") == 0 && argc == 3)
        return count(argv[2]);
    if (strcmp(name, "many") == 0 && argc == 3)
        return many(atoi(argv[2]));
    if (strcmp(name, "grid") == 0 && argc == 3)
        return grid(atoi(argv[2]));
    if (strcmp(name, "matmul") == 0 && argc == 9)
        return matmul(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), atoi(argv[6]), atoi(argv[7]), argv[8]);
    fprintf(stderr, "no case `%s`\n", name);
    return 2;
}

// A library with a kernel, for a program that opens it while it runs.

__device__ int count;

__global__ void count_up(const int *by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&count, by[i]);
}

// The sum of 0 … n - 1, or -1 if the runtime fails.
extern "C" int sum(int n) {
    int *by, host[1024], result;
    if (n > 1024 || cudaMalloc(&by, sizeof host) != cudaSuccess) return -1;
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMemcpy(by, host, n * sizeof *host, cudaMemcpyHostToDevice);
    count_up<<<8, 128>>>(by, n);
    if (cudaMemcpyFromSymbol(&result, count, sizeof result) != cudaSuccess) return -1;
    return cudaFree(by) == cudaSuccess ? result : -1;
}

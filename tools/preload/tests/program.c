// A C program that is linked with NVRTC and with the driver.

#include <cuda.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) \
    do { \
        int status = (int)(call); \
        if (status != 0) { \
            printf("line %d: %s: %d\n", __LINE__, #call, status); \
            return 1; \
        } \
    } while (0)

static const char* CODE = "extern \"C\" __global__ void fill(int* to) { to[threadIdx.x] = threadIdx.x * 3; }";

int main(void) {
    nvrtcProgram program;
    const char* options[] = {"--gpu-architecture=sm_90"};
    OK(nvrtcCreateProgram(&program, CODE, "fill.cu", 0, NULL, NULL));
    OK(nvrtcCompileProgram(program, 1, options));
    size_t size;
    OK(nvrtcGetCUBINSize(program, &size));
    char* cubin = malloc(size);
    OK(nvrtcGetCUBIN(program, cubin));
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr to;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, cubin));
    OK(cuModuleGetFunction(&kernel, module, "fill"));
    OK(cuMemAlloc(&to, 32 * 4));
    void* args[] = {&to};
    OK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, args, NULL));
    int got[32];
    OK(cuMemcpyDtoH(got, to, sizeof got));
    for (int i = 0; i < 32; i++)
        if (got[i] != 3 * i) return 1;
    puts("right");
    return 0;
}

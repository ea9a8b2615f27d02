/* A CUDA driver for tests: the functions that gpu-check loads, with NVIDIA's own header, on top of fake-gpu.
 *
 * The environment asks for trouble: FAKE_FAIL=cuName:code makes a call fail, FAKE_FLIP=1 turns a bit after every
 * launch, FAKE_HANG=1 never comes back from one, FAKE_DIE=1 ends the process in one, FAKE_LOG=FILE writes down what
 * launches and maps were asked for, FAKE_SM=80 says what the device is. With FAKE_ENTRY=name trouble is limited to
 * launches of that kernel. */
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t fake_alloc(size_t size);
int fake_free(uint64_t address);
int fake_write(uint64_t address, const void *from, size_t size);
int fake_read(void *to, uint64_t address, size_t size);
int fake_load(const char *image);
bool fake_has(int module, const char *entry);
int fake_launch(int module, const char *entry, const uint32_t *sizes, uint32_t shared, bool cooperative,
                const uint8_t *const *parameters, char **printed);
void fake_forget(char *printed);
int fake_encode(uint8_t *to, const char *const *words, uint32_t rank, uint64_t address, const uint64_t *dims,
                const uint64_t *strides, const uint32_t *extents, const uint32_t *steps, const int *corners,
                uint32_t channels, uint32_t pixels);
void fake_flip(void);

struct CUmod_st {
    int number;
};
struct CUfunc_st {
    int module;
    char name[1000];
    unsigned dynamic;
    bool wide;
};

static bool lost;

static CUresult trouble(const char *call) {
    if (lost) return CUDA_ERROR_ILLEGAL_ADDRESS;
    const char *wanted = getenv("FAKE_FAIL");
    size_t n = strlen(call);
    if (wanted && !getenv("FAKE_ENTRY") && !strncmp(wanted, call, n) && wanted[n] == ':') return atoi(wanted + n + 1);
    return CUDA_SUCCESS;
}
#define CHECK()                                     \
    do {                                            \
        CUresult bad = trouble(__func__);           \
        if (bad != CUDA_SUCCESS) return bad;        \
    } while (0)

static void note(const char *format, unsigned a, unsigned b, unsigned c, unsigned d) {
    const char *path = getenv("FAKE_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, format, a, b, c, d);
    fclose(file);
}

CUresult CUDAAPI cuInit(unsigned flags) {
    CHECK();
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text) {
    switch (error) {
    case CUDA_ERROR_INVALID_VALUE: *text = "invalid argument"; break;
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION: *text = "the provided PTX was compiled with an unsupported toolchain."; break;
    case CUDA_ERROR_LAUNCH_FAILED: *text = "unspecified launch failure"; break;
    case CUDA_ERROR_ILLEGAL_ADDRESS: *text = "an illegal memory access was encountered"; break;
    default: *text = NULL; return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDriverGetVersion(int *version) {
    *version = 13000;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal) {
    CHECK();
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetName(char *name, int length, CUdevice device) {
    snprintf(name, (size_t)length, "fake device %d", device);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    (void)device;
    int sm = getenv("FAKE_SM") ? atoi(getenv("FAKE_SM")) : 90;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = sm / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = sm % 10; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    CHECK();
    (void)device;
    *context = NULL;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {
    (void)context;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSynchronize(void) {
    CHECK();
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image) {
    CHECK();
    if (!memcmp(image, "\177ELF", 4)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    int number = fake_load(image);
    if (number < 0) return -number;
    *module = malloc(sizeof **module);
    (*module)->number = number;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleUnload(CUmodule module) {
    free(module);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    CHECK();
    if (!fake_has(module->number, name)) return CUDA_ERROR_NOT_FOUND;
    /* Lives as long as the process, as the tests' processes are short. */
    *function = calloc(1, sizeof **function);
    (*function)->module = module->number;
    snprintf((*function)->name, sizeof (*function)->name, "%s", name);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    CHECK();
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value > 227 * 1024) return CUDA_ERROR_INVALID_VALUE;
        function->dynamic = (unsigned)value;
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: function->wide = value; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *address, size_t size) {
    CHECK();
    if (!size) return CUDA_ERROR_INVALID_VALUE;
    *address = fake_alloc(size);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) { return fake_free(address); }

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) {
    CHECK();
    return fake_write(to, from, size);
}

CUresult CUDAAPI cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) {
    CHECK();
    return fake_read(to, from, size);
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **parameters, void **extra) {
    CHECK();
    uint32_t sizes[9] = {config->gridDimX,  config->gridDimY,  config->gridDimZ, config->blockDimX, config->blockDimY,
                         config->blockDimZ, 1,                 1,                1};
    bool cooperative = false;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *a = &config->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            sizes[6] = a->value.clusterDim.x;
            sizes[7] = a->value.clusterDim.y;
            sizes[8] = a->value.clusterDim.z;
        } else if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
            cooperative = a->value.cooperative;
        } else {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (extra || config->hStream) return CUDA_ERROR_INVALID_VALUE;
    /* What hardware refuses unless it was allowed. */
    if (config->sharedMemBytes > 48 * 1024 && config->sharedMemBytes > f->dynamic) return CUDA_ERROR_INVALID_VALUE;
    if (sizes[6] * sizes[7] * sizes[8] > 8 && !f->wide) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    unsigned blocks = sizes[0] * sizes[1] * sizes[2], cluster = sizes[6] * sizes[7] * sizes[8];
    note("launch blocks=%u cluster=%u shared=%u cooperative=%u\n", blocks, cluster, config->sharedMemBytes, cooperative);
    bool here = !getenv("FAKE_ENTRY") || !strcmp(getenv("FAKE_ENTRY"), f->name);
    if (here && getenv("FAKE_HANG")) sleep(1000);
    if (here && getenv("FAKE_DIE")) _exit(3);
    if (here && getenv("FAKE_FAIL")) {
        lost = true;
        return atoi(strchr(getenv("FAKE_FAIL"), ':') + 1);
    }
    char *printed = NULL;
    int code = fake_launch(f->module, f->name, sizes, config->sharedMemBytes, cooperative,
                           (const uint8_t *const *)parameters, &printed);
    if (code) {
        lost = true;
        return code;
    }
    fputs(printed, stdout);
    fake_forget(printed);
    if (here && getenv("FAKE_FLIP")) fake_flip();
    return CUDA_SUCCESS;
}

static const char *element(CUtensorMapDataType type) {
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return "u8";
    case CU_TENSOR_MAP_DATA_TYPE_UINT16: return "u16";
    case CU_TENSOR_MAP_DATA_TYPE_UINT32: return "u32";
    case CU_TENSOR_MAP_DATA_TYPE_INT32: return "s32";
    case CU_TENSOR_MAP_DATA_TYPE_UINT64: return "u64";
    case CU_TENSOR_MAP_DATA_TYPE_INT64: return "s64";
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16: return "f16";
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32: return "f32";
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return "f64";
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return "bf16";
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ: return "f32_ftz";
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32: return "tf32";
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ: return "tf32_ftz";
    default: return "?";
    }
}

static const char *interleave(CUtensorMapInterleave mode) {
    switch (mode) {
    case CU_TENSOR_MAP_INTERLEAVE_NONE: return "none";
    case CU_TENSOR_MAP_INTERLEAVE_16B: return "16B";
    case CU_TENSOR_MAP_INTERLEAVE_32B: return "32B";
    default: return "?";
    }
}

static const char *swizzle(CUtensorMapSwizzle mode) {
    switch (mode) {
    case CU_TENSOR_MAP_SWIZZLE_NONE: return "none";
    case CU_TENSOR_MAP_SWIZZLE_32B: return "32B";
    case CU_TENSOR_MAP_SWIZZLE_64B: return "64B";
    case CU_TENSOR_MAP_SWIZZLE_128B: return "128B";
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B: return "128B_ATOM_32B";
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B: return "128B_ATOM_32B_FLIP_8B";
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B: return "128B_ATOM_64B";
    default: return "?";
    }
}

static const char *fill(CUtensorMapFloatOOBfill mode) {
    return mode == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA ? "nan" : "zero";
}

CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                        const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                        const cuuint32_t *steps, CUtensorMapInterleave i, CUtensorMapSwizzle s,
                                        CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill f) {
    CHECK();
    if ((uintptr_t)map % 64 || l2 != CU_TENSOR_MAP_L2_PROMOTION_NONE) return CUDA_ERROR_INVALID_VALUE;
    note("tiled rank=%u box0=%u step0=%u dim0=%u\n", rank, box[0], steps[0], (unsigned)dims[0]);
    const char *words[4] = {element(type), interleave(i), swizzle(s), fill(f)};
    return fake_encode((uint8_t *)map, words, rank, (uintptr_t)address, dims, (const uint64_t *)strides, box, steps, NULL,
                       0, 0);
}

CUresult CUDAAPI cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                         const cuuint64_t *dims, const cuuint64_t *strides, const int *lower,
                                         const int *upper, cuuint32_t channels, cuuint32_t pixels,
                                         const cuuint32_t *steps, CUtensorMapInterleave i, CUtensorMapSwizzle s,
                                         CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill f) {
    CHECK();
    if ((uintptr_t)map % 64 || l2 != CU_TENSOR_MAP_L2_PROMOTION_NONE || rank < 3 || rank > 5)
        return CUDA_ERROR_INVALID_VALUE;
    note("im2col rank=%u channels=%u pixels=%u dim0=%u\n", rank, channels, pixels, (unsigned)dims[0]);
    int corners[6];
    memcpy(corners, lower, (rank - 2) * sizeof(int));
    memcpy(corners + rank - 2, upper, (rank - 2) * sizeof(int));
    const char *words[4] = {element(type), interleave(i), swizzle(s), fill(f)};
    return fake_encode((uint8_t *)map, words, rank, (uintptr_t)address, dims, (const uint64_t *)strides, NULL, steps,
                       corners, channels, pixels);
}

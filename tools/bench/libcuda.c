/* A libcuda.so.1 that stands for one device of compute capability 9.0 and launches nothing: what
 * cuda-tile asks of the driver before it can say what a launch would compile. */

#include <string.h>

enum { MAJOR = 75, MINOR = 76, MULTIPROCESSORS = 16 }; /* CUdevice_attribute */

static int succeed(void) { return 0; }
static int driver_version(int *version) { *version = 13030; return 0; }
static int device_count(int *count) { *count = 1; return 0; }
static int device(int *handle, int ordinal) { *handle = ordinal; return 0; }
static int context_device(int *handle) { *handle = 0; return 0; }
static int context(void **handle) { *handle = (void *)0x1000; return 0; }
static int attribute(int *value, int which, int ordinal) {
    (void)ordinal;
    *value = which == MAJOR ? 9 : which == MULTIPROCESSORS ? 132 : 0;
    return 0;
}

static void *address(const char *name) {
    static const struct { const char *name; void *address; } known[] = {
        {"cuDriverGetVersion", driver_version}, {"cuDeviceGetCount", device_count},
        {"cuDeviceGet", device},                {"cuDeviceGetAttribute", attribute},
        {"cuCtxGetCurrent", context},           {"cuDevicePrimaryCtxRetain", context},
        {"cuCtxGetDevice", context_device},
    };
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(name, known[i].name)) return known[i].address;
    return succeed;
}

int cuInit(unsigned flags) { (void)flags; return 0; }
int cuDriverGetVersion(int *version) { return driver_version(version); }
int cuGetProcAddress(const char *name, void **out, int version, unsigned long long flags) {
    (void)version, (void)flags;
    *out = address(name);
    return 0;
}
int cuGetProcAddress_v2(const char *name, void **out, int version, unsigned long long flags, int *status) {
    if (status) *status = 0;
    return cuGetProcAddress(name, out, version, flags);
}

/* tilec in C: compiles CUDA Tile IR bytecode to PTX and a launch manifest, and runs kernels in the simulator.
 *
 * Every function may be called from any thread. Nothing is kept between calls: each result is
 * freed by its owner, with tilec_free or tilec_free_run. Texts are UTF-8, end with a NUL and live as long as their
 * result.
 */
#ifndef TILEC_H
#define TILEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a compilation is asked for. Zeroed fields mean the defaults. */
typedef struct tilec_options {
  /* A target such as "sm_90a"; NULL: sm_90a. */
  const char *target;
  /* 0 (or anything below): the full optimisation; 1: lower only. */
  int32_t lower_only;
  /* Nonzero: do without tensor maps. */
  int32_t no_tma;
} tilec_options;

/* The outcome of a compilation. */
typedef struct tilec_result tilec_result;

/* Compiles a module of `length` bytes, in the public bytecode container or as text. `options` may
 * be NULL. Never returns NULL. */
tilec_result *tilec_compile(const uint8_t *module, size_t length, const tilec_options *options);

/* The PTX; NULL when the compilation failed. */
const char *tilec_ptx(const tilec_result *result);

/* How to launch each entry, as JSON; NULL when the compilation failed. */
const char *tilec_manifest(const tilec_result *result);

/* What is wrong with the module, a diagnostic a line; NULL when the compilation succeeded. */
const char *tilec_errors(const tilec_result *result);

/* Frees a result; NULL is ignored. */
void tilec_free(tilec_result *result);

/* An argument of a kernel: memory, or a value where `memory` is NULL. */
typedef struct tilec_argument {
  /* `length` bytes that the kernel gets a pointer to, reads and writes. */
  void *memory;
  size_t length;
  /* The bits of a value: the low ones, as many as the parameter has. */
  uint64_t value;
} tilec_argument;

/* The outcome of a run. */
typedef struct tilec_run_result tilec_run_result;

/* Runs an entry of a compiled module (NULL: its only one) in the simulator, on `grid` blocks along x, y, z, with all
 * checks: of bounds, initialisation, races and the protocols of asynchronous operations. The arguments' memory is
 * written when the kernel has ended well, and not touched otherwise; arguments do not overlap. Never returns NULL. */
tilec_run_result *tilec_run(const tilec_result *kernel, const char *entry, const uint32_t grid[3],
                            const tilec_argument *arguments, size_t count);

/* What the kernel printed; NULL when it failed. */
const char *tilec_run_output(const tilec_run_result *run);

/* What is wrong with the kernel or the launch; NULL when it ended well. */
const char *tilec_run_errors(const tilec_run_result *run);

/* Frees the outcome of a run; NULL is ignored. */
void tilec_free_run(tilec_run_result *run);

/* The compiler's version, such as "0.1.0". */
const char *tilec_version(void);

#ifdef __cplusplus
}
#endif

#endif

/* tilec in C: CUDA Tile IR bytecode in, PTX and a launch manifest out.
 *
 * Every function may be called from any thread. Nothing is kept between calls: each result is
 * freed by its owner, with tilec_free. Texts are UTF-8, end with a NUL and live as long as their
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

/* The compiler's version, such as "0.1.0". */
const char *tilec_version(void);

#ifdef __cplusplus
}
#endif

#endif

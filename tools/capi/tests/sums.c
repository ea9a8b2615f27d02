/* Compiles the vector addition named on the command line and runs it in the simulator on N elements; with a second
 * argument, hides the end of the result from it. Prints the sums, or the errors and ends with 1. */
#include <stdio.h>
#include <stdlib.h>

#include "tilec.h"

enum { N = 1500, TILE = 1024 };

int main(int argc, char **argv) {
  static unsigned char bytes[1 << 20];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!file) return 2;
  size_t length = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  tilec_result *kernel = tilec_compile(bytes, length, NULL);
  static float a[N], b[N], c[N];
  for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = 0.5f * (float)i;
  size_t room = argc > 2 ? sizeof c / 2 : sizeof c;
  /* An array is its pointer, its extent and its stride. */
  tilec_argument arguments[] = {
      {a, sizeof a, 0}, {NULL, 0, N}, {NULL, 0, 1}, {b, sizeof b, 0}, {NULL, 0, N},
      {NULL, 0, 1},     {c, room, 0}, {NULL, 0, N}, {NULL, 0, 1},
  };
  uint32_t grid[3] = {(N + TILE - 1) / TILE, 1, 1};
  tilec_run_result *run = tilec_run(kernel, NULL, grid, arguments, sizeof arguments / sizeof *arguments);
  const char *errors = tilec_run_errors(run);
  if (errors) {
    if (tilec_run_output(run)) return 3;
    fprintf(stderr, "%s\n", errors);
  }
  for (int i = 0; !errors && i < N; i++) printf("%g\n", c[i]);
  int untouched = errors != NULL;
  for (int i = 0; i < N; i++) untouched &= c[i] == 0.0f;
  int outcome = errors ? (untouched ? 1 : 4) : 0;
  tilec_free_run(run);
  tilec_free_run(NULL);
  tilec_free(kernel);
  return outcome;
}

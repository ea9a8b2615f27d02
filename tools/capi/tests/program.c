/* What a C user writes: compiles the module named on the command line, prints its PTX. With a
 * second argument, compiles for that target. Ends with 1 and the errors when it fails. */
#include <stdio.h>
#include <stdlib.h>

#include "tilec.h"

static unsigned char *read_all(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  size_t room = 1 << 20;
  unsigned char *bytes = malloc(room);
  *length = bytes ? fread(bytes, 1, room, file) : 0;
  fclose(file);
  return bytes;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  size_t length = 0;
  unsigned char *bytes = read_all(argv[1], &length);
  if (!bytes) return 2;
  tilec_options options = {0};
  if (argc > 2) options.target = argv[2];
  tilec_result *result = tilec_compile(bytes, length, argc > 2 ? &options : NULL);
  free(bytes);
  const char *errors = tilec_errors(result);
  if (errors) {
    /* One of the two is given, never both. */
    if (tilec_ptx(result) || tilec_manifest(result)) return 3;
    fprintf(stderr, "%s\n", errors);
  } else {
    printf("// tilec %s\n%s%s\n", tilec_version(), tilec_ptx(result), tilec_manifest(result));
  }
  tilec_free(result);
  tilec_free(NULL);
  return errors ? 1 : 0;
}

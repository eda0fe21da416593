/* Runs the package NAME once: `caller WEIGHTS THREADS < INPUT > OUTPUT`. Both are a rank, sizes (int64
 * each) and float32 elements. WEIGHTS is - where the library has them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include HEADER

#define JOIN(a, b) a##_##b
#define FUNCTION(name, part) JOIN(name, part)

int main(int argc, char **argv) {
    int64_t rank = 0, sizes[8], made[8], count = 1;
    if (argc != 3 || fread(&rank, 8, 1, stdin) != 1 || rank < 0 || rank > 8
        || fread(sizes, 8, (size_t)rank, stdin) != (size_t)rank) {
        return 2;
    }
    for (int64_t i = 0; i < rank; i++) {
        count *= sizes[i];
    }
    float *data = malloc((size_t)count * sizeof *data + 1);
    if (data == NULL || fread(data, sizeof *data, (size_t)count, stdin) != (size_t)count) {
        return 2;
    }
    NAME *model = NULL;
    gw_tensor input = {data, sizes, (int32_t)rank}, output = {NULL, made, 0};
    const char *weights = strcmp(argv[1], "-") == 0 ? NULL : argv[1];
    int failed = FUNCTION(NAME, create)(&model, weights, atoi(argv[2]), 7)
                 || FUNCTION(NAME, run)(model, &input, &output);
    if (failed) {
        fprintf(stderr, "%s\n", FUNCTION(NAME, error)(model));
    } else {
        rank = output.rank, count = 1;
        for (int64_t i = 0; i < rank; i++) {
            count *= made[i];
        }
        fwrite(&rank, 8, 1, stdout);
        fwrite(made, 8, (size_t)rank, stdout);
        fwrite(output.data, sizeof(float), (size_t)count, stdout);
    }
    FUNCTION(NAME, free)(model);
    free(data);
    return failed;
}

/* Runs the package NAME once on zeros, and prints how long it took to create the model, and when it was
 * done: nanoseconds, the second of CLOCK_MONOTONIC, and the first element of the result.
 *
 *     first_result WEIGHTS */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include HEADER

#define JOIN(a, b) a##_##b
#define FUNCTION(name, part) JOIN(name, part)

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv) {
    static const int64_t shape[] = {SIZES};
    static char zeros[BYTES];
    int64_t sizes[sizeof shape / sizeof *shape];
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        sizes[i] = shape[i];
    }
    gw_tensor input = {zeros, sizes, sizeof shape / sizeof *shape}, output = {NULL, NULL, 0};
    NAME *model = NULL;
    long long begin = now(), created = begin;
    int failed = argc != 2 || FUNCTION(NAME, create)(&model, argv[1], THREADS, 0);
    created = now();
    failed = failed || FUNCTION(NAME, run)(model, &input, &output);
    if (failed) {
        fprintf(stderr, "%s\n", FUNCTION(NAME, error)(model));
    } else {
        printf("%lld %lld %.9g\n", created - begin, now(), *(float *)output.data);
    }
    FUNCTION(NAME, free)(model);
    return failed;
}

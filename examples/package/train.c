/* Learns to read digits from scratch, and saves the weights.
 *
 *     train FOLDER EPOCHS
 *
 * FOLDER is what digits.py has written; the weights become FOLDER/trained.safetensors. */
#include "digits.h"
#include "learn.h"

enum { BATCH = 32 };

/* Puts the images that are learnt in another order. */
static void shuffle(Digits *digits, uint64_t *state) {
    for (int64_t i = digits->learnt - 1; i > 0; i--) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        int64_t j = (int64_t)((*state >> 33) % (uint64_t)(i + 1));
        for (int k = 0; k < 64; k++) {
            float swap = digits->images[i * 64 + k];
            digits->images[i * 64 + k] = digits->images[j * 64 + k];
            digits->images[j * 64 + k] = swap;
        }
        int64_t label = digits->labels[i];
        digits->labels[i] = digits->labels[j];
        digits->labels[j] = label;
    }
}

static int learn_all(learn *model, Digits *digits, int epochs) {
    uint64_t state = 1;
    for (int epoch = 0; epoch < epochs; epoch++) {
        double total = 0;
        shuffle(digits, &state);
        int64_t batches = digits->learnt / BATCH;
        for (int64_t batch = 0; batch < batches; batch++) {
            int64_t shape[] = {BATCH, 1, 8, 8}, count[] = {BATCH};
            gw_tensor inputs[] = {{digits->images + batch * BATCH * 64, shape, 4},
                                  {digits->labels + batch * BATCH, count, 1}};
            gw_tensor loss = {NULL, NULL, 0};
            if (learn_run(model, inputs, &loss) != 0) {
                return 1;
            }
            total += *(float *)loss.data;
        }
        printf("epoch %d: loss %.4f\n", epoch + 1, total / (double)(batches > 0 ? batches : 1));
    }
    return 0;
}

int main(int argc, char **argv) {
    char path[4096];
    Digits digits = {0, 0, NULL, NULL};
    learn *model = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: train FOLDER EPOCHS\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/digits.bin", argv[1]);
    int failed = read_digits(path, &digits);
    if (!failed) {
        snprintf(path, sizeof path, "%s/learn.safetensors", argv[1]);
        failed = learn_create(&model, path, 2, 0) || learn_all(model, &digits, atoi(argv[2]));
        snprintf(path, sizeof path, "%s/trained.safetensors", argv[1]);
        failed = failed || learn_save(model, path);
        if (failed) {
            fprintf(stderr, "%s\n", learn_error(model));
        }
    }
    learn_free(model);
    free_digits(&digits);
    return failed;
}

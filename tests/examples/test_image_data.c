/*
 * What the image trainer draws: epochs visit every image once, sizes and places have their ranges,
 * corruption meets the context only. Averages are held against expectations within four standard
 * errors.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "glyphs.h"
#include "image_tasks.h"
#include "keyed.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_an_order_visits_everything_once(void)
{
    const int64_t sizes[] = {1, 2, 3, 16, 17, 1000, 24000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        unsigned char *seen = calloc((size_t)sizes[k], 1);
        for (int64_t i = 0; i < sizes[k]; i++) {
            const int64_t at = key_shuffled(3, KEY_ORDER, 5, sizes[k], i);
            TEST_ASSERT_TRUE(at >= 0 && at < sizes[k] && !seen[at]);
            seen[at] = 1;
        }
        free(seen);
    }
}

/* Over many orders an element is everywhere equally often, and neighbours are no neighbours. */
static void test_orders_are_random(void)
{
    enum { N = 10, ORDERS = 20000 };
    double at[N][N] = {{0}}, together = 0;
    for (uint64_t order = 0; order < ORDERS; order++)
        for (int64_t i = 0; i < N; i++) {
            const int64_t to = key_shuffled(4, KEY_ORDER, order, N, i);
            at[i][to]++;
            together += i > 0 && key_shuffled(4, KEY_ORDER, order, N, i - 1) == to - 1;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            ASSERT_CLOSE(0.1, at[i][j] / ORDERS, 0, 4.5 * sqrt(0.09 / ORDERS));
    ASSERT_CLOSE(0.1, together / ORDERS / (N - 1), 0, 4 * sqrt(0.09 / ORDERS / (N - 1)));
}

/* Images whose every pixel is their number. */
static void make_numbered(int64_t n, image_set *out)
{
    images_create(n, 8, 9, out);
    for (int64_t i = 0; i < n; i++) {
        memset(out->pixels + i * 72, (int)i, 72);
        out->labels[i] = (unsigned char)(i % 3);
    }
}

static image_tasks all_of(const image_set *set)
{
    class_set classes;
    image_tasks tasks = {.kind = CORRUPT_ALL};
    TEST_ASSERT_EQUAL_INT(0, classes_read("0-255", &classes));
    images_choose(set, &classes, 1, &tasks.images);
    return tasks;
}

static int64_t number_of(const batch *b, int64_t task)
{
    return (int64_t)(((double)b->y[b->offsets[task]] + 0.5) * 255 + 0.5);
}

static void test_an_epoch_of_training_visits_every_image_once(void)
{
    enum { N = 50, BATCH = 8, EPOCHS = 4 };
    image_set set;
    make_numbered(N, &set);
    image_tasks tasks = all_of(&set);
    const task_source source = image_tasks_training(&tasks);
    batch *b = batch_create(&source, BATCH);
    int seen[N] = {0};
    for (int64_t i = 0; i < N * EPOCHS; i++) {
        if (i % BATCH == 0)
            source.draw(source.self, 9, (uint64_t)(i / BATCH), b);
        const int64_t image = number_of(b, i % BATCH);
        TEST_ASSERT_EQUAL_INT(i / N, seen[image]);
        seen[image]++;
    }
    batch_destroy(b);
    images_forget(&tasks.images);
    images_destroy(&set);
}

static void test_a_test_visits_every_image_once_and_ends(void)
{
    enum { N = 50, BATCH = 8 };
    image_set set;
    make_numbered(N, &set);
    image_tasks tasks = all_of(&set);
    const task_source source = image_tasks_test(&tasks);
    batch *b = batch_create(&source, BATCH);
    int seen[N] = {0};
    TEST_ASSERT_EQUAL_INT64(N, source.count);
    for (uint64_t index = 0; index < 7; index++) {
        source.draw(source.self, 9, index, b);
        TEST_ASSERT_EQUAL_INT64(index < 6 ? BATCH : 2, b->tasks);
        for (int64_t i = 0; i < b->tasks; i++)
            TEST_ASSERT_EQUAL_INT(0, seen[number_of(b, i)]++);
    }
    batch_destroy(b);
    images_forget(&tasks.images);
    images_destroy(&set);
}

/* Both kinds of source: uniform context sizes, targets uniform in what is left. */
static void check_sizes(task_source (*make)(const image_tasks *))
{
    enum { BATCHES = 9700 };
    image_set set;
    glyphs_draw(1, 1, &set);
    image_tasks tasks = all_of(&set);
    const task_source source = make(&tasks); /* one that ends is begun with many seeds */
    batch *b = batch_create(&source, 1);
    double low = 0, share = 0;
    for (uint64_t i = 0; i < BATCHES; i++) {
        source.draw(source.self, source.count ? i : 7, source.count ? 0 : i, b);
        const int64_t c = b->n_ctx[0], t = b->offsets[1] - c;
        TEST_ASSERT_TRUE(c >= 3 && c <= 196 && t >= 3 && t <= 199 - c);
        low += c < 100;
        share += ((double)(t - 3) + 0.5) / (double)(197 - c);
    }
    ASSERT_CLOSE(0.5, low / BATCHES, 0, 4 * 0.5 / sqrt(BATCHES));
    ASSERT_CLOSE(0.5, share / BATCHES, 0, 4 / sqrt(12.0 * BATCHES));
    batch_destroy(b);
    images_forget(&tasks.images);
    images_destroy(&set);
}

static void test_sizes_of_training_are_uniform_in_the_ranges_of_the_paper(void)
{
    check_sizes(image_tasks_training);
}

static void test_sizes_of_tests_are_uniform_in_the_same_ranges(void)
{
    check_sizes(image_tasks_test);
}

/* Of 40 batches a quarter is in each quarter of the range of context sizes, give or take two. */
static void test_sizes_of_tests_are_spread_evenly(void)
{
    image_set set;
    glyphs_draw(1, 10, &set);
    image_tasks tasks = all_of(&set);
    const task_source source = image_tasks_test(&tasks);
    batch *b = batch_create(&source, 4);
    int quarter[4] = {0};
    for (uint64_t i = 0; i < 40; i++) {
        source.draw(source.self, 3, i, b);
        quarter[(b->n_ctx[0] - 3) * 4 / 194]++;
    }
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_INT_WITHIN(2, 10, quarter[i]);
    batch_destroy(b);
    images_forget(&tasks.images);
    images_destroy(&set);
}

static void test_pixels_of_a_task_are_different_and_those_of_its_image(void)
{
    image_set set;
    glyphs_draw(1, 2, &set);
    image_tasks tasks = all_of(&set);
    tasks.images.n = 1; /* image 0 */
    const task_source source = image_tasks_training(&tasks);
    batch *b = batch_create(&source, 3);
    source.draw(source.self, 5, 2, b);
    for (int64_t task = 0; task < 3; task++) {
        int seen[784] = {0};
        for (int64_t i = b->offsets[task]; i < b->offsets[task + 1]; i++) {
            const double r = ((double)b->x[2 * i] + 1) * 13.5,
                         c = ((double)b->x[2 * i + 1] + 1) * 13.5;
            const int pixel = 28 * (int)lround(r) + (int)lround(c);
            ASSERT_CLOSE(lround(r), r, 0, 1e-5);
            ASSERT_CLOSE(lround(c), c, 0, 1e-5);
            ASSERT_CLOSE(set.pixels[pixel] / 255.0 - 0.5, b->y[i], 0, 1e-6);
            TEST_ASSERT_EQUAL_INT(0, seen[pixel]++);
        }
    }
    batch_destroy(b);
    images_forget(&tasks.images);
    images_destroy(&set);
}

static void test_corruption_leaves_the_targets_and_takes_every_noise_in_turn(void)
{
    image_set set;
    glyphs_draw(1, 4, &set);
    image_tasks tasks = all_of(&set);
    const task_source source = image_tasks_test(&tasks);
    batch *clean = batch_create(&source, 8), *dirty = batch_create(&source, 8);
    int changed[8] = {0}, zeros[8] = {0};
    for (uint64_t index = 0; index < 8; index++) {
        source.draw(source.self, 5, index, clean);
        source.draw(source.self, 5, index, dirty);
        source.corrupt(source.self, 5, index, 5, dirty);
        for (int64_t b = 0; b < 8; b++)
            for (int64_t i = clean->offsets[b]; i < clean->offsets[b + 1]; i++) {
                const int differs = clean->y[i] != dirty->y[i];
                TEST_ASSERT_TRUE(!differs || i < clean->offsets[b] + clean->n_ctx[b]);
                changed[b] += differs;
                zeros[b] += differs && clean->y[i] == -0.5f;
            }
    }
    for (int b = 0; b < 8; b++) {
        TEST_ASSERT_TRUE(changed[b] > 0);
        /* black stays black under shot noise and speckle */
        TEST_ASSERT_EQUAL_INT(b % 4 == CORRUPT_GAUSSIAN || b % 4 == CORRUPT_IMPULSE, zeros[b] > 0);
    }
    TEST_ASSERT_TRUE(source.clean_truth);
    batch_destroy(clean);
    batch_destroy(dirty);
    images_forget(&tasks.images);
    images_destroy(&set);
}

static void test_pixelated_context_is_the_image_at_its_nearest_places(void)
{
    image_set set;
    glyphs_draw(1, 1, &set);
    image_tasks tasks = all_of(&set);
    tasks.images.n = 1;
    tasks.kind = CORRUPT_PIXELATE;
    const task_source source = image_tasks_test(&tasks);
    batch *b = batch_create(&source, 1);
    source.draw(source.self, 5, 0, b);
    source.corrupt(source.self, 5, 0, 4, b);
    for (int64_t i = 0; i < b->n_ctx[0]; i++) {
        const int64_t r = lround(((double)b->x[2 * i] + 1) * 13.5);
        const int64_t c = lround(((double)b->x[2 * i + 1] + 1) * 13.5);
        const int64_t from = 28 * corrupt_place(4, 28, r) + corrupt_place(4, 28, c);
        ASSERT_CLOSE(set.pixels[from] / 255.0 - 0.5, b->y[i], 0, 1e-6);
    }
    TEST_ASSERT_FALSE(source.clean_truth);
    batch_destroy(b);
    images_forget(&tasks.images);
    images_destroy(&set);
}

static void test_context_sizes_that_are_given_are_kept(void)
{
    image_set set;
    glyphs_draw(1, 1, &set);
    image_tasks tasks = all_of(&set);
    tasks.n_ctx = 450;
    const task_source source = image_tasks_test(&tasks);
    batch *b = batch_create(&source, 2);
    for (uint64_t i = 0; i < 8; i++) {
        source.draw(source.self, 5, i, b);
        const int64_t t = b->offsets[1] - 450;
        TEST_ASSERT_TRUE(b->n_ctx[0] == 450 && b->n_ctx[1] == 450 && t >= 3 && t <= 50);
    }
    batch_destroy(b);
    images_forget(&tasks.images);
    images_destroy(&set);
}

static void test_glyphs_have_ink_and_differ_in_every_image(void)
{
    image_set set, other;
    glyphs_draw(1, 5, &set);
    glyphs_draw(2, 5, &other);
    TEST_ASSERT_EQUAL_INT64(5 * GLYPH_CLASSES, set.n);
    for (int64_t i = 0; i < set.n; i++) {
        int ink = 0;
        for (int p = 0; p < 784; p++)
            ink += set.pixels[784 * i + p] > 128;
        TEST_ASSERT_TRUE(ink > 20 && ink < 300);
        TEST_ASSERT_EQUAL_INT(i % GLYPH_CLASSES, set.labels[i]);
        TEST_ASSERT_TRUE(memcmp(set.pixels + 784 * i, other.pixels + 784 * i, 784) != 0);
    }
    TEST_ASSERT_TRUE(images_checksum(&set) != images_checksum(&other));
    images_destroy(&set);
    images_destroy(&other);
}

static void test_transposing_twice_is_nothing(void)
{
    image_set set;
    images_create(2, 2, 3, &set);
    for (unsigned char i = 0; i < 12; i++)
        set.pixels[i] = i;
    images_transpose(&set);
    const unsigned char turned[] = {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11};
    TEST_ASSERT_EQUAL_INT64(3, set.height);
    TEST_ASSERT_EQUAL_MEMORY(turned, set.pixels, 12);
    images_transpose(&set);
    for (unsigned char i = 0; i < 12; i++)
        TEST_ASSERT_EQUAL_INT(i, set.pixels[i]);
    images_destroy(&set);
}

static void test_classes_are_read_printed_and_kept(void)
{
    class_set set, again;
    char text[64];
    int64_t word[CLASSES_WORDS];
    TEST_ASSERT_EQUAL_INT(0, classes_read("0-4,7,51-53,255", &set));
    TEST_ASSERT_TRUE(set.has[0] && set.has[4] && !set.has[5] && set.has[7] && set.has[255]);
    classes_print(&set, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("0-4+7+51-53+255", text);
    classes_pack(&set, word);
    classes_unpack(word, &again);
    TEST_ASSERT_EQUAL_MEMORY(&set, &again, sizeof set);
    const char *const bad[] = {"",   "a",  "1-",  "-1",    "3-1", "256",
                               "1,", ",1", "1;2", "1-2-3", "1 2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        TEST_ASSERT_EQUAL_INT(-1, classes_read(bad[i], &set));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_an_order_visits_everything_once);
    RUN_TEST(test_orders_are_random);
    RUN_TEST(test_an_epoch_of_training_visits_every_image_once);
    RUN_TEST(test_a_test_visits_every_image_once_and_ends);
    RUN_TEST(test_sizes_of_training_are_uniform_in_the_ranges_of_the_paper);
    RUN_TEST(test_sizes_of_tests_are_uniform_in_the_same_ranges);
    RUN_TEST(test_sizes_of_tests_are_spread_evenly);
    RUN_TEST(test_pixels_of_a_task_are_different_and_those_of_its_image);
    RUN_TEST(test_corruption_leaves_the_targets_and_takes_every_noise_in_turn);
    RUN_TEST(test_pixelated_context_is_the_image_at_its_nearest_places);
    RUN_TEST(test_context_sizes_that_are_given_are_kept);
    RUN_TEST(test_glyphs_have_ink_and_differ_in_every_image);
    RUN_TEST(test_transposing_twice_is_nothing);
    RUN_TEST(test_classes_are_read_printed_and_kept);
    return UNITY_END();
}

// loop NAME: a loop that does nothing but compute, as often as amount/NAME says in
// percent.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t integers(long n)
{
	uint64_t s = 1, sum = 0;
	for (long i = 0; i < n; i++) {
		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		sum += s;
	}
	return sum;
}

static uint64_t floats(long n)
{
	double mean = 0;
	for (long i = 0; i < n; i++)
		mean = mean * 0.999999 + 1.0 / (double)(i + 1);
	return (uint64_t)(mean * 1e9);
}

// table stays in the first cache.
static uint64_t table(long n)
{
	static uint32_t t[2048];
	uint64_t s = 1, sum = 0;
	for (long i = 0; i < n; i++) {
		s = s * 6364136223846793005U + 1;
		t[s >> 53] += (uint32_t)i;
		sum += t[s >> 40 & 2047];
	}
	return sum;
}

static uint64_t divide(long n)
{
	uint64_t s = 0x123456789abcdefU, sum = 0;
	for (long i = 0; i < n; i++) {
		s = s / 7 + s % 7 * 0x2468acf13579bdf1U;
		s = (s ^ 0x9e3779b97f4a7c15U) / ((s & 15) + 3) + (uint64_t)i;
		sum += s;
	}
	return sum;
}

// chase goes from place to place, all in the first cache.
static uint64_t chase(long n)
{
	static uint32_t next[512];
	uint64_t sum = 0;
	for (uint32_t i = 0; i < 512; i++)
		next[i] = (i * 1664525U + 1013904223U) & 511;
	uint32_t at = 1;
	for (long i = 0; i < n; i++) {
		at = next[at];
		sum += at;
	}
	return sum;
}

static const struct {
	const char *name;
	uint64_t (*work)(long);
	long n;
} loops[] = {{"integers", integers, 240000}, {"floats", floats, 240000}, {"table", table, 300000},
	{"divide", divide, 45000}, {"chase", chase, 300000}};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof loops / sizeof *loops; i++) {
		if (strcmp(argv[1], loops[i].name))
			continue;
		char path[64];
		int percent = 0;
		snprintf(path, sizeof path, "amount/%s", argv[1]);
		FILE *f = fopen(path, "r");
		if (!f || fscanf(f, "%d", &percent) != 1 || fclose(f) || percent < 1) {
			fprintf(stderr, "loop: %s holds no amount\n", path);
			return 1;
		}
		printf("%llu\n", (unsigned long long)loops[i].work(loops[i].n * percent));
		return 0;
	}
	fputs("usage: loop integers, floats, table, divide or chase\n", stderr);
	return 1;
}

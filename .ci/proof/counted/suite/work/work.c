// work NAME: sorts, hashes or builds lists, as often as amount/NAME says in percent.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 2000, rounds = 20 };

static uint64_t state = 1;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static uint64_t sort(void)
{
	static uint64_t v[count / 4];
	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		v[i] = draw();
	qsort(v, sizeof v / sizeof *v, sizeof *v, order);
	return v[0];
}

static uint64_t hash(void)
{
	uint64_t h = 14695981039346656037U;
	for (int i = 0; i < 10 * count; i++)
		h = (h ^ (draw() & 255)) * 1099511628211U;
	return h;
}

struct node {
	struct node *next;
	uint64_t value;
};

static uint64_t list(void)
{
	struct node *head = NULL;
	uint64_t sum = 0;
	for (int i = 0; i < count; i++) {
		struct node *n = malloc(sizeof *n + draw() % 64);
		if (!n)
			exit(1);
		*n = (struct node){head, draw()};
		head = n;
	}
	while (head) {
		struct node *n = head;
		sum += n->value;
		head = n->next;
		free(n);
	}
	return sum;
}

static int amount(const char *name)
{
	char path[64];
	int percent = 0;
	snprintf(path, sizeof path, "amount/%s", name);
	FILE *f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &percent) != 1 || fclose(f) || percent < 1) {
		fprintf(stderr, "work: %s holds no amount\n", path);
		exit(1);
	}
	return percent;
}

int main(int argc, char **argv)
{
	uint64_t (*work)(void) = NULL, sum = 0;
	if (argc == 2 && !strcmp(argv[1], "sort"))
		work = sort;
	else if (argc == 2 && !strcmp(argv[1], "hash"))
		work = hash;
	else if (argc == 2 && !strcmp(argv[1], "list"))
		work = list;
	else {
		fputs("usage: work sort, hash or list\n", stderr);
		return 1;
	}
	for (int i = rounds * amount(argv[1]) / 100; i > 0; i--)
		sum += work();
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}

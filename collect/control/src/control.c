/*
 * The control cell's program: a fixed amount of work, the same in every release,
 * so that how long it takes tells the machine and nothing else.
 *
 * Four fifths of its time are steps that wait for each other: they follow the clock
 * of the core, and what a neighbour or a hypervisor takes of it. The rest is a walk
 * over 1 MiB in which each place tells the next one: that follows caches and memory.
 * It is not more, because its time scatters far more than that of the steps (on a
 * virtual machine with neighbours 12 to 36 % from session to session, against 1.5 %):
 * a cell that feels memory more than the commands do proves nothing.
 * It needs no library, reads nothing and writes nothing. It ends with 0 when the
 * work came to what it always comes to, else with 1: a machine that cannot count
 * should not be measured with.
 *
 * CHANGING ANYTHING HERE MAKES ANOTHER CELL: its digest is that of the bytes, and
 * stored sessions of the old one are compared with no more. Rebuild with
 * .ci/embedded.sh.
 */

#include <asm/unistd.h>

typedef unsigned int u32;
typedef unsigned long u64;

enum {
	PR_SET_NAME = 15, PR_SET_THP_DISABLE = 41, /* of the kernel's interface */

	STEPS = 12000000,
	WORDS = 1 << 20 >> 3, /* 1 MiB */
	WALK = 250000,
};

/* What both parts come to. */
#define COUNTED 0x6a33da430cc3d0eaul
#define WALKED 0xd6dec2eb3cb0fe0eul

static u64 memory[WORDS];

static inline long sys(long n, long a, long b, long c, long d, long e)
{
#if defined(__x86_64__)
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	__asm__ volatile("syscall" : "=a"(ret)
		: "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
		: "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	__asm__ volatile("svc 0" : "+r"(x0)
		: "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
		: "memory");
	return x0;
#else
#error "no system call on this architecture"
#endif
}

/* step is one of Marsaglia's xorshift generators: no step can begin before the
 * last one has ended. */
static inline u64 step(u64 x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

static u64 count(void)
{
	u64 x = 88172645463325252ul;
	for (u32 i = 0; i < STEPS; i++)
		x = step(x);
	return x;
}

/* walk fills the memory, and then goes where it is sent. */
static u64 walk(void)
{
	u64 x = 88172645463325252ul;
	for (u32 i = 0; i < WORDS; i++)
		memory[i] = x = step(x);
	u64 at = 0;
	for (u32 i = 0; i < WALK; i++)
		at = memory[at % WORDS] + i;
	return at;
}

__attribute__((used, noreturn)) void control(void)
{
	sys(__NR_prctl, PR_SET_NAME, (long)"perfweir-ctrl", 0, 0, 0);
	/* Whether large pages are to be had differs from run to run, and the walk's time
	 * with it. */
	sys(__NR_prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0);
	int wrong = count() != COUNTED;
	wrong |= walk() != WALKED;
	for (;;)
		sys(__NR_exit_group, wrong, 0, 0, 0, 0);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall control\n");
#else
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tbl control\n");
#endif

/*
 * The launcher: a resident program of a few KiB that starts every command.
 *
 * Linux carries the high-water mark of a process's memory over fork and exec, so
 * the program that forks must be small for ru_maxrss to be the command's own. It
 * has no libc, allocates nothing, and never maps a request: the child does that.
 *
 * It is the sub-reaper of all that a command leaves, so it reaps, and counts,
 * every descendant that nobody else waited for. When the control socket closes,
 * because its runner has ended or was killed, it kills everything that it
 * started, and ends when nothing is left. File 4, which it never touches, stays
 * open until then: a lock on that file lives as long.
 *
 * Files: 3 is the control socket (SOCK_SEQPACKET), 4 what is to be kept open.
 * The other end is wire_linux.go. Rebuild with .ci/embedded.sh.
 */

#include <asm/unistd.h>

typedef unsigned int u32;
typedef unsigned long u64;
typedef long s64;

enum { CONTROL = 3, KEPT = 4, VERSION = 1 };

/* Of the kernel's interface; the same on both architectures but where said. */
enum {
	EINTR = 4, ECHILD = 10, EBUSY = 16, EINVAL = 22,
	SIGKILL = 9, SIGCHLD = 17, SIGNALS = 64,
	SIG_SETMASK = 2, SA_NOCLDSTOP = 1,
	WNOHANG = 1, POLLIN = 1,
	O_CLOEXEC = 02000000, SFD_FLAGS = 02004000, /* CLOEXEC, NONBLOCK */
	PROT_READ_WRITE = 3, MAP_PRIVATE = 2,
	MSG_NOSIGNAL = 0x4000, MSG_CMSG_CLOEXEC = 0x40000000,
	SOL_SOCKET = 1, SCM_RIGHTS = 1,
	F_SETFD = 2, FD_CLOEXEC = 1, AT_FDCWD = -100, CLOCK_MONOTONIC = 1,
	PR_SET_DUMPABLE = 4, PR_SET_NAME = 15, PR_SET_CHILD_SUBREAPER = 36,
};
#if defined(__aarch64__)
enum { O_DIRECTORY = 040000 };
#else
enum { O_DIRECTORY = 0200000 };
#endif

static inline long sys(long n, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "=a"(ret)
		: "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0" : "+r"(x0)
		: "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
		: "memory");
	return x0;
#else
#error "no system call on this architecture"
#endif
}
#define CALL(name, a, b, c, d, e) \
	sys(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

/* The compiler may ask for this one even without a library. */
void *memset(void *to, int byte, u64 n)
{
	for (char *p = to; n > 0; n--)
		*p++ = (char)byte;
	return to;
}

/* What the runner asks for. */
enum { RUN = 1, SIGNAL = 2, FINISH = 3 };

struct request {
	u32 op;
	u32 signal; /* SIGNAL: to the group of the main process while that is not reaped */
	u64 size;   /* RUN: of the specification, the first of four files that come along */
};

/* The specification in a file: this, then argc offsets and 0, then envc offsets
 * and 0, then the strings that the offsets point to. */
struct spec {
	u64 argc, envc;
	u64 path, dir; /* offsets; dir 0: stay */
	u64 pointers[];
};

/* What the runner is told. */
enum { HELLO = 1, STARTED = 2, ENDED = 3, NONE_LEFT = 4, FINISHED = 5 };
enum { STEP_PIPE = 1, STEP_CLONE, STEP_SESSION, STEP_FILES, STEP_SPEC, STEP_FOLDER, STEP_EXEC, STEP_REQUEST, STEP_SETTLE };

struct usage { /* us, us, KiB */
	s64 user, system, rss;
};

struct report {
	u32 kind, pid;
	u32 step, err; /* where and why it, or with HELLO the launcher, did not start; err 0: it did */
	u32 status;    /* of the main process, as wait4 has it */
	u32 left;      /* there are children */
	u32 reaped;    /* since the start of the run, the main process included */
	u32 version;
	s64 start, end;          /* ns, CLOCK_MONOTONIC */
	struct usage main, all;  /* of the main process; of all that were reaped */
	s64 own;                 /* us of CPU of the launcher itself since it began */
	s64 floor;               /* KiB: what a child that does nothing is told to have used */
};

struct failure {
	u32 step, err;
};

struct rusage {
	s64 user[2], system[2], maxrss, others[13];
};

struct pollfd {
	int fd;
	short events, revents;
};

static struct report now; /* of the run in flight */
static int main_pid;      /* 0: none, or reaped */
static int open_run;      /* from RUN until nothing is left, or FINISH */
static int ended;         /* ENDED was told */
static int signals;       /* the signalfd */

static s64 clock(void)
{
	s64 t[2];
	CALL(clock_gettime, CLOCK_MONOTONIC, t, 0, 0, 0);
	return t[0] * 1000000000 + t[1];
}

static void tell(u32 kind)
{
	struct rusage own;
	CALL(getrusage, 0, &own, 0, 0, 0);
	now.own = (own.user[0] + own.system[0]) * 1000000 + own.user[1] + own.system[1];
	now.kind = kind;
	now.version = VERSION;
	CALL(sendto, CONTROL, &now, sizeof now, MSG_NOSIGNAL, 0);
}

static void add(struct usage *to, const struct rusage *ru)
{
	to->user += ru->user[0] * 1000000 + ru->user[1];
	to->system += ru->system[0] * 1000000 + ru->system[1];
	if (ru->maxrss > to->rss)
		to->rss = ru->maxrss;
}

/* reap takes every child that has ended, and returns whether others are there. */
static int reap(void)
{
	struct rusage ru;
	int status;
	for (;;) {
		long pid = CALL(wait4, -1, &status, WNOHANG, &ru, 0);
		if (pid == -EINTR)
			continue;
		if (pid <= 0)
			return pid != -ECHILD;
		if (pid == main_pid) {
			now.end = clock();
			now.status = status;
			add(&now.main, &ru);
			main_pid = 0;
		}
		add(&now.all, &ru);
		now.reaped++;
	}
}

/* reap_and_tell tells the end of the main process, and later that nothing is left. */
static void reap_and_tell(void)
{
	now.left = reap();
	if (!open_run || main_pid)
		return;
	if (!ended || !now.left)
		tell(ended ? NONE_LEFT : ENDED);
	ended = 1;
	open_run = now.left; /* the run is over when nothing is left: no FINISH is needed */
}

static void fail(int to, u32 step, long err)
{
	struct failure f = { step, (u32)-err };
	CALL(write, to, &f, sizeof f, 0, 0);
	CALL(exit_group, 127, 0, 0, 0, 0);
}

/* child becomes the command. It maps the specification in its own memory: what
 * that takes, the command's stack takes too, so it never shows. */
static void child(const int *files, u64 size, int to)
{
	long err = CALL(setsid, 0, 0, 0, 0, 0);
	if (err < 0)
		fail(to, STEP_SESSION, err);
	for (int i = 0; i < 3; i++)
		if ((err = CALL(dup3, files[1 + i], i, 0, 0, 0)) < 0)
			fail(to, STEP_FILES, err);
	long at = sys(__NR_mmap, 0, (long)size, PROT_READ_WRITE, MAP_PRIVATE, files[0], 0);
	if (at < 0 && at > -4096)
		fail(to, STEP_SPEC, at);
	struct spec *s = (struct spec *)at;
	u64 *p = s->pointers;
	for (u64 i = 0; i < s->argc + s->envc + 1; i++)
		if (p[i])
			p[i] += (u64)at;
	if (s->dir && (err = CALL(chdir, at + (long)s->dir, 0, 0, 0, 0)) < 0)
		fail(to, STEP_FOLDER, err);
	u64 none = 0;
	CALL(rt_sigprocmask, SIG_SETMASK, &none, 0, sizeof none, 0);
	fail(to, STEP_EXEC, CALL(execve, at + (long)s->path, p, p + s->argc + 1, 0, 0));
}

static void refuse(u32 step, long err)
{
	now.step = step;
	now.err = (u32)-err;
	tell(STARTED);
}

static void run(const int *files, u64 size)
{
	s64 floor = now.floor;
	memset(&now, 0, sizeof now);
	now.floor = floor;
	int pipe[2];
	long err = CALL(pipe2, pipe, O_CLOEXEC, 0, 0, 0);
	if (err < 0) {
		refuse(STEP_PIPE, err);
		return;
	}
	now.start = clock();
	long pid = CALL(clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		child(files, size, pipe[1]);
	CALL(close, pipe[1], 0, 0, 0, 0);
	struct failure f = { STEP_CLONE, (u32)-pid };
	int failed = pid < 0;
	if (!failed) { /* until exec has closed the other end, or told why not */
		failed = CALL(read, pipe[0], &f, sizeof f, 0, 0) == sizeof f;
		if (failed)
			while (CALL(wait4, pid, 0, 0, 0, 0) == -EINTR)
				;
	}
	CALL(close, pipe[0], 0, 0, 0, 0);
	if (failed) {
		refuse(f.step, -(long)f.err);
		return;
	}
	now.pid = main_pid = (int)pid;
	open_run = 1;
	ended = 0;
	tell(STARTED);
	reap_and_tell(); /* its signal may have been taken for an earlier child's */
}

static void doom(void);

/* serve does what the next message asks for. */
static void serve(void)
{
	struct request q = { 0 };
	struct {
		u64 len;
		int level, type;
		int files[4];
	} rights = { 0 };
	struct {
		void *base;
		u64 len;
	} part = { &q, sizeof q };
	struct {
		void *name;
		u32 namelen, pad;
		void *parts;
		u64 count;
		void *control;
		u64 controllen;
		int flags, pad2;
	} msg = { 0, 0, 0, &part, 1, &rights, sizeof rights, 0, 0 };
	long n = CALL(recvmsg, CONTROL, &msg, MSG_CMSG_CLOEXEC, 0, 0);
	if (n == -EINTR)
		return;
	if (n <= 0)
		doom();
	int have = 0;
	if (msg.controllen >= 16 && rights.level == SOL_SOCKET && rights.type == SCM_RIGHTS)
		have = (int)((rights.len - 16) / sizeof(int));
	if (q.op == RUN && (have != 4 || n != sizeof q))
		refuse(STEP_REQUEST, -EINVAL);
	else if (q.op == RUN && open_run)
		refuse(STEP_REQUEST, -EBUSY);
	else if (q.op == RUN)
		run(rights.files, q.size);
	else if (q.op == SIGNAL && main_pid)
		CALL(kill, -main_pid, q.signal, 0, 0, 0);
	else if (q.op == FINISH) {
		now.left = reap();
		open_run = 0;
		tell(FINISHED);
	}
	for (int i = 0; i < have; i++)
		CALL(close, rights.files[i], 0, 0, 0, 0);
}

/* parent reads whose child a process is: the second field after the last ')' of
 * its stat line; 0 when it is gone. */
static int parent(int proc, const char *name)
{
	char path[32], text[512];
	int n = 0;
	for (; name[n] && n < 20; n++)
		path[n] = name[n];
	for (const char *s = "/stat"; (path[n] = *s); s++)
		n++;
	int fd = (int)CALL(openat, proc, path, O_CLOEXEC, 0, 0);
	if (fd < 0)
		return 0;
	long got = CALL(read, fd, text, sizeof text, 0, 0);
	CALL(close, fd, 0, 0, 0, 0);
	long at = got - 1;
	while (at >= 0 && text[at] != ')')
		at--;
	int ppid = 0;
	if (at >= 0)
		for (at += 4; at < got && text[at] >= '0' && text[at] <= '9'; at++)
			ppid = ppid * 10 + text[at] - '0';
	return ppid;
}

/* kill_children kills what is a child now. Their children become ours, and are
 * killed the next time. */
static void kill_children(int self)
{
	int proc = (int)CALL(openat, AT_FDCWD, "/proc", O_CLOEXEC | O_DIRECTORY, 0, 0);
	char list[2048] __attribute__((aligned(8)));
	if (proc < 0)
		return;
	for (;;) {
		long n = CALL(getdents64, proc, list, sizeof list, 0, 0);
		if (n <= 0)
			break;
		/* struct linux_dirent64: 8 inode, 8 offset, 2 length, 1 type, name */
		for (long at = 0; at < n; at += *(unsigned short *)(list + at + 16)) {
			const char *name = list + at + 19;
			int pid = 0;
			for (const char *c = name; *c >= '0' && *c <= '9'; c++)
				pid = pid * 10 + *c - '0';
			if (pid > 0 && parent(proc, name) == self)
				CALL(kill, pid, SIGKILL, 0, 0, 0);
		}
	}
	CALL(close, proc, 0, 0, 0, 0);
}

static void drain(void)
{
	char info[128];
	while (CALL(read, signals, info, sizeof info, 0, 0) > 0)
		;
}

static void await(struct pollfd *what, u64 n, s64 ms)
{
	s64 limit[2] = { ms / 1000, ms % 1000 * 1000000 };
	CALL(ppoll, what, n, ms < 0 ? 0 : limit, 0, 8);
}

/* doom kills everything and ends when nothing is left. */
static void doom(void)
{
	int self = (int)CALL(getpid, 0, 0, 0, 0, 0);
	struct pollfd what = { signals, POLLIN, 0 };
	for (s64 pause = 1;; pause = pause < 100 ? 2 * pause : 200) {
		if (main_pid)
			CALL(kill, -main_pid, SIGKILL, 0, 0, 0);
		if (!reap())
			break;
		kill_children(self);
		await(&what, 1, pause);
		drain();
	}
	CALL(exit_group, 0, 0, 0, 0, 0);
}

/* measure_floor tells what a child has used that does nothing: this program's own
 * mark, under which no command can be seen. */
static void measure_floor(void)
{
	struct rusage ru = { 0 };
	long pid = CALL(clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		CALL(exit_group, 0, 0, 0, 0, 0);
	while (CALL(wait4, pid, 0, 0, &ru, 0) == -EINTR)
		;
	now.floor = ru.maxrss;
}

/* settle gives the commands defaults: they take the dispositions over, and child
 * gives them an empty mask. All signals stay blocked here. */
static void settle(void)
{
	u64 all = ~0ul;
	CALL(rt_sigprocmask, SIG_SETMASK, &all, 0, sizeof all, 0);
	for (int s = 1; s <= SIGNALS; s++) {
		u64 action[4] = { 0, s == SIGCHLD ? SA_NOCLDSTOP : 0, 0, 0 };
		CALL(rt_sigaction, s, action, 0, 8, 0);
	}
	CALL(close_range, KEPT + 1, ~0u, 0, 0, 0); /* what our runner was given is no command's business */
	u64 mask = 1ul << (SIGCHLD - 1);
	signals = (int)CALL(signalfd4, -1, &mask, sizeof mask, SFD_FLAGS, 0);
	CALL(fcntl, CONTROL, F_SETFD, FD_CLOEXEC, 0, 0);
	CALL(fcntl, KEPT, F_SETFD, FD_CLOEXEC, 0, 0);
	CALL(prctl, PR_SET_NAME, "perfweir-launch", 0, 0, 0);
	CALL(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	long err = CALL(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (signals < 0)
		err = signals;
	now.step = STEP_SETTLE;
	now.err = (u32)-err;
}

__attribute__((used, noreturn)) void launcher(void)
{
	settle();
	measure_floor();
	tell(HELLO);
	for (;;) {
		struct pollfd what[2] = { { signals, POLLIN, 0 }, { CONTROL, POLLIN, 0 } };
		await(what, 2, -1);
		if (what[0].revents) {
			drain();
			reap_and_tell();
		}
		if (what[1].revents)
			serve();
	}
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall launcher\n");
#else
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tbl launcher\n");
#endif

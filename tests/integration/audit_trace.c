/* Records what a process asks the kernel to do with the files of one folder, in order: the input of
   test_audit_crash.py. Preloaded; AUDIT_TRACE names the trace, AUDIT_FOLDER the folder.
   A record: one letter, u64 offset, u64 length, u16 length of the path, path, data. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int trace = -1;
static char folder[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("AUDIT_TRACE"), *where = getenv("AUDIT_FOLDER");
    if (!name || !where) return;
    snprintf(folder, sizeof folder, "%s", where);
    trace = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
}

static void note(char kind, const char *path, uint64_t offset, uint64_t length, const void *data) {
    uint16_t size = strlen(path);
    pthread_mutex_lock(&lock);
    syscall(SYS_write, trace, &kind, 1);
    syscall(SYS_write, trace, &offset, 8);
    syscall(SYS_write, trace, &length, 8);
    syscall(SYS_write, trace, &size, 2);
    syscall(SYS_write, trace, path, size);
    if (data) syscall(SYS_write, trace, data, length);
    pthread_mutex_unlock(&lock);
}

static int wanted(int fd, char *path) {
    char link[64];
    if (trace < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, 4095);
    if (size < 0) return 0;
    path[size] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

#define REAL(type, name, ...)                                   \
    static type (*real)(__VA_ARGS__) = NULL;                    \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define PWRITE(name)                                                          \
    ssize_t name(int fd, const void *data, size_t size, off_t offset) {       \
        REAL(ssize_t, name, int, const void *, size_t, off_t);                \
        char path[4096];                                                      \
        ssize_t done = real(fd, data, size, offset);                          \
        if (done > 0 && wanted(fd, path)) note('w', path, offset, done, data); \
        return done;                                                          \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    char path[4096];
    ssize_t done = real(fd, data, size);
    if (done > 0 && wanted(fd, path)) note('w', path, lseek(fd, 0, SEEK_CUR) - done, done, data);
    return done;
}

#define TRUNCATE(name)                                               \
    int name(int fd, off_t size) {                                   \
        REAL(int, name, int, off_t);                                 \
        char path[4096];                                             \
        int failed = real(fd, size);                                 \
        if (!failed && wanted(fd, path)) note('t', path, size, 0, NULL); \
        return failed;                                               \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define SYNC(name)                                                \
    int name(int fd) {                                            \
        REAL(int, name, int);                                     \
        char path[4096];                                          \
        int failed = real(fd);                                    \
        if (!failed && wanted(fd, path)) note('s', path, 0, 0, NULL); \
        return failed;                                            \
    }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    int failed = real(from, to);
    if (!failed && trace >= 0 && strncmp(from, folder, strlen(folder)) == 0) note('r', from, 0, strlen(to), to);
    return failed;
}

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    int failed = real(path);
    if (!failed && trace >= 0 && strncmp(path, folder, strlen(folder)) == 0) note('u', path, 0, 0, NULL);
    return failed;
}

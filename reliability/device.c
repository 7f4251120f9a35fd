/* Stands between a program and its file system, under LD_PRELOAD.

   Calls that change files below one folder are counted from the moment the shim is armed. The
   n-th one kills the program, or fails with an error; or all of them are written to a record,
   with their bytes, from which a disk can be made as a power cut would leave it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 4096

static char folder[PATH_MAX];
static char *names[FILES];
static int record = -1;
static long countdown = 0; /* 0: nothing shall fail */
static long counted = 0;
static int failure = 0;    /* an errno, or -1 to be killed */

void device_watch(const char *path) { snprintf(folder, sizeof folder, "%s", path); }
void device_arm(long nth, int how) { counted = 0; countdown = nth; failure = how; }
long device_counted(void) { return counted; }

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static void put(char kind, const char *path, int64_t place, const void *bytes, uint32_t size) {
  static ssize_t (*out)(int, const void *, size_t);
  if (record < 0) return;
  if (!out) out = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  uint16_t length = (uint16_t)strlen(path);
  char head[15];
  head[0] = kind;
  memcpy(head + 1, &length, 2);
  memcpy(head + 3, &place, 8);
  memcpy(head + 11, &size, 4);
  out(record, head, 15);
  out(record, path, length);
  if (size) out(record, bytes, size);
}

void device_record(const char *path) {
  static int (*make)(const char *, int, ...);
  if (!make) make = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  record = make(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
}
void device_mark(int64_t number) { put('m', "", number, NULL, 0); }

static int ours(const char *path) {
  size_t length = strlen(folder);
  return length && path && !strncmp(path, folder, length) && !strstr(path, "-shm") &&
         !strstr(path, "-turn");
}
static const char *name_of(int fd) { return fd >= 0 && fd < FILES ? names[fd] : NULL; }

/* Tell whether this call shall fail; a program that shall be killed does not come back. */
static int fails(void) {
  counted++;
  if (!countdown || counted != countdown) return 0;
  if (failure < 0) raise(SIGKILL);
  errno = failure;
  return 1;
}

static int opened(int fd, const char *path, int flags) {
  if (fd >= 0 && fd < FILES) {
    free(names[fd]);
    names[fd] = ours(path) ? strdup(path) : NULL;
    if (names[fd] && (flags & O_CREAT)) put('c', path, 0, NULL, 0);
  }
  return fd;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    if (ours(path) && (flags & O_CREAT) && fails()) return -1; \
    return opened(real(path, flags, mode), path, flags); \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  REAL(close);
  if (fd >= 0 && fd < FILES && names[fd]) { free(names[fd]); names[fd] = NULL; }
  return real(fd);
}

#define PWRITE(name, offset) \
  ssize_t name(int fd, const void *bytes, size_t size, offset place) { \
    REAL(name); \
    const char *file = name_of(fd); \
    if (file && fails()) return -1; \
    if (file) put('w', file, place, bytes, (uint32_t)size); \
    return real(fd, bytes, size, place); \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(write);
  const char *file = name_of(fd);
  if (file && fails()) return -1;
  if (file) put('w', file, lseek(fd, 0, SEEK_CUR), bytes, (uint32_t)size);
  return real(fd, bytes, size);
}

#define TRUNCATE(name, offset) \
  int name(int fd, offset size) { \
    REAL(name); \
    const char *file = name_of(fd); \
    if (file && fails()) return -1; \
    if (file) put('t', file, size, NULL, 0); \
    return real(fd, size); \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

/* A directory is synced through a descriptor of its own. */
static int synced(int fd, int (*real)(int)) {
  char link[64], path[PATH_MAX];
  const char *file = name_of(fd);
  if (file && strcmp(file, folder)) {
    if (fails()) return -1;
    int done = real(fd);
    put('s', file, 0, NULL, 0);
    return done;
  }
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length > 0) {
    path[length] = 0;
    if (*folder && !strncmp(path, folder, strlen(path)) ) {
      if (fails()) return -1;
      put('d', path, 0, NULL, 0);
    }
  }
  return real(fd);
}
int fsync(int fd) { REAL(fsync); return synced(fd, real); }
int fdatasync(int fd) { REAL(fdatasync); return synced(fd, real); }

int unlink(const char *path) {
  REAL(unlink);
  if (ours(path)) {
    if (fails()) return -1;
    put('u', path, 0, NULL, 0);
  }
  return real(path);
}
int rename(const char *from, const char *to) {
  REAL(rename);
  if (ours(to)) {
    if (fails()) return -1;
    put('r', from, 0, to, (uint32_t)strlen(to));
  }
  return real(from, to);
}

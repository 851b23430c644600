/* Preloaded into a program, it lets the program run as if its disk needed no time: SQLite then behaves as it does with
 * PRAGMA synchronous = OFF. */

int fsync(int descriptor) {
    (void)descriptor;
    return 0;
}

int fdatasync(int descriptor) {
    (void)descriptor;
    return 0;
}

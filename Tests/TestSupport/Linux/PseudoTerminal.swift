#if os(Linux)
internal import Glibc

/// A terminal whose keyboard and screen the test controls.
package final class PseudoTerminal: Sendable {
    /// The system has no terminal for us.
    package struct Unavailable: Error {}

    /// The longest wait for a text to appear; only a failing test waits until it ends.
    private static let patienceMilliseconds: Int32 = 60_000

    /// The path of the device that a process opens to use this terminal.
    package let path: String
    private let main: Int32
    /// Held open, so that the terminal lives between two questions.
    private let other: Int32

    package init() throws {
        // The requests of posix_openpt, unlockpt and ptsname, which Glibc's module hides.
        let unlock: UInt = 0x4004_5431
        let number: UInt = 0x8004_5430
        var isLocked: Int32 = 0
        var index: Int32 = 0
        main = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        let unlocked = unsafe ioctl(main, unlock, &isLocked)
        let numbered = unsafe ioctl(main, number, &index)
        path = "/dev/pts/\(index)"
        other = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard unlocked == 0, numbered == 0, other >= 0 else { throw Unavailable() }
    }

    deinit {
        _ = close(main)
        _ = close(other)
    }

    /// Whether typed characters are echoed now.
    package var isEchoing: Bool {
        var settings = termios()
        _ = unsafe tcgetattr(other, &settings)
        return settings.c_lflag & tcflag_t(ECHO) != 0
    }

    package func type(_ text: String) {
        let bytes = [UInt8](text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(main, $0.baseAddress, $0.count) }
    }

    /// Everything on the screen up to and including `text`; less if it does not appear.
    package func screen(until text: String) -> String {
        var shown = ""
        var byte: UInt8 = 0
        var bytes: [UInt8] = []
        while !shown.contains(text) {
            var waiting = pollfd(fd: main, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, Self.patienceMilliseconds) == 1 else { break }
            // One byte per call: the bytes after the text remain for the next one.
            guard unsafe read(main, &byte, 1) == 1 else { break }
            bytes.append(byte)
            shown = String(decoding: bytes, as: UTF8.self)
        }
        return shown
    }
}
#endif

internal import Libc

/// The events that a thread that reads sockets waits for: datagrams, wakes by other threads, and changes of the
/// interfaces.
///
/// Only ``wake()`` may be called by other threads.
@safe
final class NetworkEvents: @unchecked Sendable {
    private let wakeReceiver: Int32
    private let wakeSender: Int32
    private let news: Int32
    private var waiting: [pollfd] = []

    /// Fails if the system has no more descriptors.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        wakeReceiver = ends[0]
        wakeSender = ends[1]
        news = RouteNews.open()
    }

    deinit {
        for descriptor in [wakeReceiver, wakeSender, news] where descriptor >= 0 { _ = close(descriptor) }
    }

    /// Whether the system reports changes of interfaces; otherwise they must be listed periodically.
    var hasNews: Bool { news >= 0 }

    /// Ends a wait, the next one if there is none.
    func wake() {
        var byte: UInt8 = 0
        _ = unsafe write(wakeSender, &byte, 1)  // a full pipe wakes as well
    }

    /// Waits until a datagram arrives, another thread calls ``wake()``, the interfaces change or the timeout expires.
    ///
    /// - Returns: which of `descriptors` are readable, and whether the interfaces may have changed.
    func wait(for descriptors: [Int32], milliseconds: Int32) -> (ready: [Bool], hasChanged: Bool) {
        waiting.removeAll(keepingCapacity: true)
        for descriptor in [wakeReceiver, news] + descriptors {
            waiting.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }
        guard unsafe poll(&waiting, nfds_t(waiting.count), milliseconds) > 0 else {
            return (descriptors.map { _ in false }, false)
        }
        if waiting[0].revents != 0 { drain(wakeReceiver) }
        let hasChanged = waiting[1].revents != 0
        if hasChanged { drain(news) }
        return (waiting.dropFirst(2).map { $0.revents != 0 }, hasChanged)
    }

    /// Discards the readable bytes: only their arrival matters, also after an overflow (ENOBUFS on Linux).
    private func drain(_ descriptor: Int32) {
        var scrap = [UInt8](repeating: 0, count: 8192)
        for _ in 0..<64 {
            let count = unsafe scrap.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EAGAIN { return }
        }
    }
}

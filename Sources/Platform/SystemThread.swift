internal import Libc

/// Threads of our own, for work that waits in the system.
package enum SystemThread {
    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// The stack size of a thread, many times the need of our loops.
    private static let stackByteCount = 512 << 10

    /// Runs `body` on a new thread, which receives no signals; returns the system's error, or 0.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, stackByteCount)
        let box = unsafe Unmanaged.passRetained(Body(body))
        let status = unsafe createThread(
            &attributes,
            { raw in
                unsafe SystemThread.run(raw)
                return nil
            },
            box.toOpaque()
        )
        if status != 0 { unsafe box.release() }
        return status
    }

    /// Blocks all signals, and runs a retained body.
    private static func run(_ raw: UnsafeMutableRawPointer?) {
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        if let raw = unsafe raw { unsafe Unmanaged<Body>.fromOpaque(raw).takeRetainedValue().run() }
    }
}

internal import CQUICShim

/// The engine's settings that all connections of an endpoint share.
///
/// Every connection points to the hooks, so this must outlive the connections.
@safe
struct Engine: ~Copyable {
    let tls: TLSContext
    let options: rq_options
    private let hooks: UnsafeMutablePointer<rq_hooks>

    init(tls: TLSContext, options: rq_options) {
        self.tls = tls
        self.options = options
        unsafe hooks = .allocate(capacity: 1)
        unsafe hooks.initialize(to: EngineHooks.make())
    }

    deinit {
        unsafe hooks.deallocate()
    }

    /// Makes the client's end of a connection, which keeps `core` alive; false when memory is short.
    func dial(_ core: ConnectionCore, from local: inout ru_addr, to remote: inout ru_addr, at now: UInt64) -> Bool {
        let user = unsafe Unmanaged.passRetained(core)
        let raw = unsafe withUnsafePointer(to: options) { options in
            unsafe rq_conn_dial(tls.raw, options, hooks, user.toOpaque(), &local, &remote, now)
        }
        guard let raw = unsafe raw else {
            unsafe user.release()
            return false
        }
        unsafe core.raw = unsafe raw
        return true
    }

    /// Makes the server's end of a connection, which keeps `core` alive; false when memory is short.
    func accept(
        _ core: ConnectionCore,
        _ initial: inout rq_initial,
        from remote: inout ru_addr,
        to local: inout ru_addr,
        at now: UInt64
    ) -> Bool {
        let user = unsafe Unmanaged.passRetained(core)
        let raw = unsafe withUnsafePointer(to: options) { options in
            unsafe rq_conn_accept(tls.raw, options, hooks, user.toOpaque(), &initial, &local, &remote, now)
        }
        guard let raw = unsafe raw else {
            unsafe user.release()
            return false
        }
        unsafe core.raw = unsafe raw
        return true
    }

    /// Calls `body` with the secret of stateless resets and Retry tokens.
    func withSecret<R>(_ body: (UnsafePointer<UInt8>?) -> R) -> R {
        unsafe withUnsafeBytes(of: options.secret) {
            unsafe body($0.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
    }
}

internal import CQUICShim

/// The callbacks of the engine while it works on a packet.
///
/// None of these may call the engine or wake a task: ``IOLoop/drainEvents(of:)`` reports the events after the packet.
enum EngineHooks {
    static func make() -> rq_hooks {
        unsafe rq_hooks(
            verify: { user, key in
                guard let core = unsafe connection(user), let key = unsafe key else { return false }
                return unsafe core.accepts(key: Array(UnsafeBufferPointer(start: key, count: 32)))
            },
            cid_added: { user, cid in
                guard let core = unsafe connection(user), let cid = unsafe cid else { return }
                let id = unsafe QUICConnectionId(cid.pointee)
                core.reports.add(id)
                core.loop.connections.table.add(id, of: core)
            },
            cid_removed: { user, cid in
                guard let core = unsafe connection(user), let cid = unsafe cid else { return }
                let id = unsafe QUICConnectionId(cid.pointee)
                core.reports.remove(id)
                core.loop.connections.table.remove(id)
            },
            stream_opened: { user, raw in
                guard let core = unsafe connection(user) else { return nil }
                let stream = StreamCore(connection: core, isRemote: true)
                unsafe stream.raw = unsafe raw
                core.reports.opened(stream)
                return unsafe UnsafeMutableRawPointer(Unmanaged.passRetained(stream).toOpaque())
            },
            stream_data: { user, bytes, length in
                guard let user = unsafe user else { return }
                let stream = unsafe Unmanaged<StreamCore>.fromOpaque(user).takeUnretainedValue()
                unsafe stream.stage(UnsafeBufferPointer(start: bytes, count: length))
            },
            release: { owner in
                guard let owner = unsafe owner else { return }
                unsafe Unmanaged<SendBuffer>.fromOpaque(owner).release()
            },
            transmit: { user, batch in
                guard let core = unsafe connection(user), let batch = unsafe batch else { return Int32(RQ_FAILED) }
                return unsafe core.loop.transmit(batch.pointee)
            }
        )
    }
}

private func connection(_ user: UnsafeMutableRawPointer?) -> ConnectionCore? {
    unsafe user.map { unsafe Unmanaged<ConnectionCore>.fromOpaque($0).takeUnretainedValue() }
}

/// Bytes that the engine reads in place until they are acknowledged.
///
/// The array is never changed, so its storage stays where it is as long as this object lives.
final class SendBuffer: Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

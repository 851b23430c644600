internal import CRunar
internal import Concurrency
internal import Dispatch
internal import Essentials
internal import RunarNode

// Function pointers and contexts of programs in C. Nothing here reads the target of a context: runar.h requires that it may
// be used on any thread, hence `@unchecked Sendable`.

/// The callback for the end of an operation.
@safe struct Completion: @unchecked Sendable {
    let function: runar_callback?
    let context: UnsafeMutableRawPointer?

    func call(_ result: Result<String?, RunarError>) {
        guard let function = unsafe self.function else { return }
        CallbackThread.enter {
            switch result {
            case .success(nil): unsafe function(context, nil, nil)
            case .success(let value?):
                unsafe value.withCString { text in unsafe function(context, text, nil) }
            case .failure(let failure):
                let error = unsafe Memory.error(failure)
                unsafe function(context, nil, error)
                unsafe Memory.free(error)
            }
        }
    }
}

/// The callback for an answer.
@safe struct DataCompletion: @unchecked Sendable {
    let function: runar_data_callback?
    let context: UnsafeMutableRawPointer?

    func call(_ result: Result<Data, RunarError>) {
        guard let function = unsafe self.function else { return }
        CallbackThread.enter {
            switch result {
            case .success(let bytes): unsafe function(context, Memory.result(bytes))
            case .failure(let error): unsafe function(context, Memory.result(error))
            }
        }
    }
}

/// The callback for events.
@safe struct EventTarget: @unchecked Sendable {
    let function: runar_event_callback
    let context: UnsafeMutableRawPointer?

    func call(_ event: RunarEvent) {
        CallbackThread.enter {
            unsafe event.topic.path.withCString { topic in
                unsafe event.publisher.base64Encoded.withCString { publisher in
                    unsafe withOptionalCString(event.networkId?.base64Encoded) { network in
                        unsafe withBytes(of: event.data) { data in
                            var shown = unsafe runar_event()
                            unsafe shown.size = MemoryLayout<runar_event>.size
                            unsafe shown.topic = topic
                            unsafe shown.data = data.baseAddress
                            unsafe shown.length = data.count
                            unsafe shown.publisher = publisher
                            unsafe shown.network_id = network
                            unsafe shown.published_at = Int64(event.publishedAt.timeIntervalSince1970)
                            unsafe shown.number = event.number
                            unsafe shown.dropped_before = event.droppedBefore
                            unsafe shown.missed_before = event.missedBefore
                            unsafe function(context, &shown)
                        }
                    }
                }
            }
        }
    }
}

/// The callback for the requests of an action.
@safe struct ActionTarget: @unchecked Sendable {
    let function: runar_action_callback
    let context: UnsafeMutableRawPointer?

    func call(_ handle: UInt, _ request: RunarRequest, parameters: String) {
        CallbackThread.enter {
            unsafe request.path.withCString { path in
                unsafe parameters.withCString { parameters in
                    unsafe withOptionalCString(request.networkId?.base64Encoded) { network in
                        unsafe withOptionalCString(request.peer?.base64Encoded) { peer in
                            unsafe withBytes(of: request.payload) { payload in
                                var info = unsafe runar_request_info()
                                unsafe info.size = MemoryLayout<runar_request_info>.size
                                unsafe info.path = path
                                unsafe info.parameters = parameters
                                unsafe info.network_id = network
                                unsafe info.peer_id = peer
                                unsafe info.payload = payload.baseAddress
                                unsafe info.payload_length = payload.count
                                unsafe info.encoding = Arguments.number(of: request)
                                unsafe info.time_left_ms = Arguments.milliseconds(until: request.deadline)
                                unsafe function(context, OpaquePointer(bitPattern: handle), &info)
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The threads that are in a callback at this moment: a wait on them is skipped, because it might wait for itself.
enum CallbackThread {
    static var isInside: Bool { callback_thread_is_inside() }

    static func enter(_ body: () -> Void) {
        let wasInside = callback_thread_set_inside(true)
        body()
        _ = callback_thread_set_inside(wasInside)
    }
}

/// The gate for calls into the program: once closed, it admits no new call, and ``wait()`` waits for those in progress.
final class CallbackGate: Sendable {
    private let isClosed = Locked(false)
    private let running = DispatchGroup()

    /// Begins something that ``leave()`` ends, unless the gate is closed.
    func enter() -> Bool {
        isClosed.withLock { isClosed in
            if !isClosed { running.enter() }
            return !isClosed
        }
    }

    func leave() { running.leave() }

    /// Runs `body` unless the gate is closed.
    func pass(_ body: () -> Void) {
        guard enter() else { return }
        defer { leave() }
        body()
    }

    /// Closes the gate to new calls; returns false if it was closed before.
    @discardableResult
    func close() -> Bool {
        isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
    }

    /// Waits until running callbacks have returned, except in a callback.
    func wait() {
        if !CallbackThread.isInside { running.wait() }
    }
}

func withOptionalCString(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Void) {
    guard let text else { return body(nil) }
    unsafe text.withCString { pointer in unsafe body(pointer) }
}

/// The bytes of some data, at an address even when there are none.
private func withBytes(of data: Data, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    unsafe data.withUnsafeBytes { buffer in
        unsafe body(buffer.assumingMemoryBound(to: UInt8.self))
    }
}

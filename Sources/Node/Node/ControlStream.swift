internal import NodeCore
internal import Transport

/// The control stream of a connection, which carries frames in both directions.
struct ControlStream: Sendable {
    let stream: any Stream
    let sendQueue: SendQueue

    /// Writes `header` and then the frames of the send queue, until that is finished.
    ///
    /// `onRoom` is called whenever the peer has read nearly all that waited for it.
    func writeFrames(after header: [UInt8], onRoom: @Sendable () -> Void) async {
        defer { sendQueue.noteEnd() }
        do {
            if !header.isEmpty { try await stream.write(header, finish: false) }
            for await frame in sendQueue.frames {
                try await stream.write(frame, finish: false)
                if sendQueue.noteWritten(frame) { onRoom() }
            }
            try await stream.delivered()
        } catch {
            // A peer that takes no frames violates the protocol: the reset ends the reader. If the connection has ended, the
            // reader ends by itself, after the frames that arrived before.
            guard case TransportError.stopped = error else { return }
            stream.reset(code: CloseCode.protocolViolation.rawValue)
        }
    }

    /// Passes the peer's frames to `onFrame` until the stream ends.
    ///
    /// `byteLimit` returns the length of the longest frame that the peer may send next; nil for no change.
    ///
    /// - Throws: `TransportError`, ``StreamReader/Failure``; `CancellationError` when cancelled.
    func readFrames(
        _ reader: StreamReader,
        onFrame: ([UInt8]) -> Int?
    ) async throws {
        var reader = reader
        var limit = Frame.helloByteLimit
        while true {
            guard let frame = try await reader.readPrefixed(limit: limit) else { return }
            limit = onFrame(frame) ?? limit
        }
    }
}

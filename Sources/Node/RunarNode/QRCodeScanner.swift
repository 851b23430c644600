internal import Concurrency
@_exported public import QRCode

/// Reads QR codes in a camera's frames and in images, and reports their texts.
///
/// Each text is reported once while it stays in view, and again when it reappears. Frames that arrive while one is being
/// read are dropped, so that a slow device reads fewer frames instead of falling behind.
///
/// ```swift
/// let scanner = QRCodeScanner()
/// for await text in scanner.scanQRCode() { … }
/// // elsewhere, for each frame of the camera:
/// await scanner.scan(frame)
/// ```
public final class QRCodeScanner: Sendable {
    /// The most texts that wait for a listener; of more, the oldest are dropped.
    private static let mostWaiting = 16
    /// The most texts in view.
    private static let mostInView = 64
    /// A text that was not seen in this many frames is out of view: a single frame is easily blurred.
    private static let patience = 15

    private struct State {
        var isBusy = false
        var frames = 0
        /// The texts in view and in which frame each was last seen, in order of appearance.
        var inView: [(text: String, lastSeen: Int)] = []
        var listeners: [Int: AsyncStream<String>.Continuation] = [:]
        var nextListener = 0
    }

    private let reader: QRReader
    private let state = Locked(State())

    /// A scanner; `reader` bounds the work that a frame may cause.
    public init(reader: QRReader = QRReader()) {
        self.reader = reader
    }

    deinit {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }

    /// The texts of the codes that are scanned from now on, those in view first.
    public func scanQRCode() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: String.self,
            bufferingPolicy: .bufferingNewest(Self.mostWaiting)
        )
        let (id, inView) = state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            return (state.nextListener, state.inView.map(\.text))
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        for text in inView { continuation.yield(text) }
        return stream
    }

    /// Reads a frame away from the caller's executor; false if one was being read, and this one was dropped.
    @concurrent @discardableResult public func scan(_ frame: GreyImage) async -> Bool { process(frame) }

    /// Reads a frame where it is called, as a camera's own queue does.
    @discardableResult func process(_ frame: GreyImage) -> Bool {
        let mayRead = state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard mayRead else { return false }
        // Parts of a longer message are no text by themselves.
        let texts = reader.read(frame).filter { $0.message.part == nil }.compactMap(\.text)
        let (new, listeners) = state.withLock { state in
            state.isBusy = false
            return (Self.note(texts, in: &state), Array(state.listeners.values))
        }
        for text in new { for listener in listeners { listener.yield(text) } }
        return true
    }

    /// Counts a frame with these texts, and returns those that are new in view.
    private static func note(_ texts: [String], in state: inout State) -> [String] {
        state.frames += 1
        let frame = state.frames
        state.inView.removeAll { frame - $0.lastSeen > patience }
        var new: [String] = []
        for text in texts {
            if let known = state.inView.firstIndex(where: { $0.text == text }) {
                state.inView[known].lastSeen = frame
            } else if state.inView.count < mostInView {
                state.inView.append((text, frame))
                new.append(text)
            }
        }
        return new
    }
}

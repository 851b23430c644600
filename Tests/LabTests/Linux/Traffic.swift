#if os(Linux)
internal import Concurrency
internal import TestSupport

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// The delivery of messages that one device sent to another every 50 milliseconds during an operation, which began
/// when messages flowed.
struct Traffic: Sendable {
    private static let pause = Duration.milliseconds(50)
    /// Messages on their way at once; a node serves no more than 32 commands.
    private static let window = 24
    /// Sent before something happens.
    private static let head = 20
    /// Sent after it has happened.
    private static let tail = 40

    let sent: Int
    /// The errors of the sends that failed.
    let failures: [String]
    /// The number of messages that never arrived.
    let lost: Int
    /// The longest time before an arrival in which nothing arrived, without the pause between two messages.
    let stall: Duration
    /// The paths of both devices' packets before and afterwards.
    let paths: String

    /// Sends from `source` to `target` while `body` runs, and a little longer.
    static func flowing(
        from source: Device,
        to target: Device,
        during body: () async throws -> Void
    ) async throws -> Self {
        let watch = try await target.watch()
        let before = try await paths(source, target)
        let isOver = Locked(false)
        let mark = "traffic \(UInt32.random(in: 0 ... .max)) "
        let (peerId, home) = (target.peerId, source.home.path)
        let started = ContinuousClock.now
        async let failures = send(mark, to: peerId, by: home, until: isOver)
        do {
            // Something that happened before the first arrival would leave no gap.
            let last = "\(mark)\(head - 1)"
            let isFlowing = try await watch.first(within: .seconds(120)) { update in
                if case .message(let message, _) = update { message.text == last } else { false }
            }
            guard isFlowing != nil else { throw Outcome.Unexpected(description: "no messages came") }
            try await body()
        } catch {
            isOver.withLock { $0 = true }
            _ = await failures
            throw error
        }
        isOver.withLock { $0 = true }
        let (sent, complaints) = await failures
        // A receipt and the listener's update arrive on two ways, of which either may be the quicker.
        let heard = Set(watch.messages(beginning: mark).map(\.text))
        for text in (0..<sent).map({ "\(mark)\($0)" }) where complaints.isEmpty && !heard.contains(text) {
            let isThere = try await watch.first(within: .seconds(30)) { update in
                if case .message(let message, _) = update { message.text == text } else { false }
            }
            if isThere == nil { break }
        }
        let arrivals = watch.messages(beginning: mark)
        let times = [started] + arrivals.map(\.time)
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        return Self(
            sent: sent,
            failures: complaints,
            lost: sent - Set(arrivals.map(\.text)).count,
            stall: max(.zero, (gaps.max() ?? .zero) - pause),
            paths: "\(before) -> \(try await paths(source, target))"
        )
    }

    private static func paths(_ source: Device, _ target: Device) async throws -> String {
        "\(try await source.path(to: target)) / \(try await target.path(to: source))"
    }

    private static func send(
        _ mark: String,
        to peerId: String,
        by home: String,
        until isOver: Locked<Bool>
    ) async -> (Int, [String]) {
        await withTaskGroup(of: String?.self) { group in
            var (number, left) = (0, tail)
            var due = ContinuousClock.now
            var complaints: [String] = []
            while left > 0 {
                if number >= window, let answer = await group.next(), let answer { complaints.append(answer) }
                let text = "\(mark)\(number)"
                group.addTask { await complaint(sending: text, to: peerId, by: home) }
                number += 1
                if isOver.withLock({ $0 }) { left -= 1 }
                due = max(due + pause, .now)
                try? await ContinuousClock().sleep(until: due)  // cancelled: the rest is sent at once
            }
            for await case let answer? in group { complaints.append(answer) }
            return (number, complaints)
        }
    }

    private static func complaint(sending text: String, to peerId: String, by home: String) async -> String? {
        do {
            guard let client = NodeClient(home: home) else { return "no node" }
            _ = try await client.perform(Operations.send(PeerName(peerId), TextForm(text)))
            return nil
        } catch {
            return "\(error)"
        }
    }
}
#endif

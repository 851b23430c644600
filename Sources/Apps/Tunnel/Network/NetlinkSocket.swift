internal import CTunnelShim
internal import Concurrency
internal import Libc

/// A socket for requests of rtnetlink, in the network namespace of the thread that opened it.
final class NetlinkSocket: Sendable {
    /// The error number of a refused request.
    struct Refusal: Error, Equatable {
        var code: Int32
    }

    /// The time that the kernel has for an answer, in milliseconds.
    private static let patience: Int32 = 2_000
    /// The most answers of a dump.
    private static let answerLimit = 65_536

    private let descriptor: Int32
    private let lastSequence = Locked<UInt32>(0)

    init() throws(TunnelError) {
        descriptor = ct_netlink_open(Self.patience)
        guard descriptor >= 0 else { throw .networkRefused(change: "open a netlink socket", code: -descriptor) }
    }

    deinit { _ = close(descriptor) }

    /// Sends a request, waits for its acknowledgment, and returns the messages before it.
    @discardableResult
    func request(_ message: NetlinkMessage) throws(Refusal) -> [NetlinkMessage] {
        var message = message
        if message.flags & NetlinkMessage.dump != NetlinkMessage.dump { message.flags |= NetlinkMessage.acknowledge }
        // One request after another: the answers of two would mix.
        let outcome = lastSequence.withLock { (sequence: inout UInt32) -> Result<[NetlinkMessage], Refusal> in
            sequence &+= 1
            let current = sequence
            do throws(Refusal) {
                return .success(try exchange(message, current))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private func exchange(_ message: NetlinkMessage, _ sequence: UInt32) throws(Refusal) -> [NetlinkMessage] {
        let bytes = message.bytes(sequence: sequence)
        let sent = unsafe bytes.withUnsafeBufferPointer {
            unsafe ct_netlink_send(descriptor, $0.baseAddress, $0.count)
        }
        guard sent >= 0 else { throw Refusal(code: Int32(truncatingIfNeeded: -sent)) }
        var answers: [NetlinkMessage] = []
        while true {
            for (answer, number) in NetlinkMessage.messages(in: try receive()) where number == sequence {
                switch NetlinkMessage.Kind(rawValue: answer.kind) {
                case .done: return answers
                case .error:
                    let code = Int32(bitPattern: NetlinkMessage.word(answer.body[...]))
                    guard code == 0 else { throw Refusal(code: code == .min ? EINVAL : -code) }
                    return answers
                default:
                    guard answers.count < Self.answerLimit else { throw Refusal(code: EMSGSIZE) }
                    answers.append(answer)
                }
            }
        }
    }

    private func receive() throws(Refusal) -> [UInt8] {
        var room = [UInt8](repeating: 0, count: NetlinkMessage.answerByteLimit)
        let count = unsafe room.withUnsafeMutableBufferPointer {
            unsafe ct_netlink_receive(descriptor, $0.baseAddress, $0.count)
        }
        guard count >= 0 else { throw Refusal(code: Int32(truncatingIfNeeded: -count)) }
        room.removeLast(room.count - count)
        return room
    }
}

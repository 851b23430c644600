internal import Foundation
internal import TestSupport

/// A cable between two TAP interfaces of this network namespace that delays, drops and slows down frames.
///
/// `Cable <first> <second> [name=number…]` makes both interfaces, prints `ready`, and passes frames for as long as the
/// process that started it lives; the interfaces may be moved into other namespaces. Numbers apply to each direction: `rate`
/// in bits per second, `delay` and `jitter` in microseconds, `loss` in parts per million, `burst` (the mean number of frames
/// that are lost together), `queue` in bytes (the frames that wait for the rate), `seed`.
@main struct Cable {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else { exit(64) }
        var numbers: [String: Int64] = [:]
        for argument in arguments.dropFirst(2) {
            let parts = argument.split(separator: "=")
            guard parts.count == 2, let number = Int64(parts[1]), number >= 0 else { exit(64) }
            numbers[String(parts[0])] = number
        }
        let ends = try arguments.prefix(2).map(Tap.init)
        var wires = [UInt64(0), 1].map { Wire(numbers, chance: $0) }
        try FileHandle.standardOutput.write(contentsOf: Data("ready\n".utf8))
        let (owner, start) = (getppid(), ContinuousClock.now)
        // A parent that has exited cannot stop this process, so the loop watches for that.
        while getppid() == owner {
            let wait = wires.compactMap(\.nextDue).min().map { $0 - nanoseconds(since: start) } ?? 1_000_000_000
            Tap.wait(for: ends, milliseconds: Int32(min(1_000, max(0, wait + 999_999) / 1_000_000)))
            let now = nanoseconds(since: start)
            for (index, end) in ends.enumerated() {
                while let frame = end.read() { wires[index].take(frame, at: now) }
                while let frame = wires[index].release(at: now) { ends[1 - index].write(frame) }
            }
        }
    }

    private static func nanoseconds(since start: ContinuousClock.Instant) -> Int64 {
        Int64((ContinuousClock.now - start) / .nanoseconds(1))
    }
}

/// One direction.
private struct Wire {
    private struct Frame {
        let due: Int64
        let bytes: [UInt8]
    }

    private let numbers: [String: Int64]
    private var random: SplitMix64
    private var frames: [Frame] = []
    private var first = 0
    /// The time at which the last frame has left the sender's network card.
    private var sent: Int64 = 0
    private var lastDue: Int64 = 0
    private var isLosing = false

    init(_ numbers: [String: Int64], chance: UInt64) {
        self.numbers = numbers
        random = SplitMix64(seed: UInt64(numbers["seed"] ?? 1) &* 2 &+ chance)
    }

    private subscript(_ name: String) -> Int64 { numbers[name] ?? 0 }

    var nextDue: Int64? { first < frames.count ? frames[first].due : nil }

    mutating func take(_ bytes: [UInt8], at now: Int64) {
        // A lost request for a neighbour's hardware address would cost a second, which no real path does.
        let isARP = bytes.count > 13 && bytes[12] == 0x08 && bytes[13] == 0x06
        guard !losesNext() || isARP else { return }
        let begin = max(now, sent)
        if self["rate"] > 0 {
            let waiting = (begin - now) * self["rate"] / 8_000_000_000
            guard waiting <= max(self["queue"], 1_514) else { return }
            sent = begin + Int64(bytes.count) * 8_000_000_000 / self["rate"]
        } else {
            sent = now
        }
        let jitter = self["jitter"] * 1_000
        let shift = jitter == 0 ? 0 : Int64.random(in: -jitter...jitter, using: &random)
        // A frame never overtakes an earlier one.
        lastDue = max(lastDue, sent + max(0, self["delay"] * 1_000 + shift))
        frames.append(Frame(due: lastDue, bytes: bytes))
    }

    mutating func release(at now: Int64) -> [UInt8]? {
        guard first < frames.count, frames[first].due <= now else { return nil }
        defer {
            first += 1
            if first == frames.count { (frames, first) = ([], 0) }
        }
        return frames[first].bytes
    }

    /// Gilbert and Elliott's two states: in one everything passes, in the other nothing.
    private mutating func losesNext() -> Bool {
        let loss = Double(self["loss"]) / 1_000_000
        guard loss > 0, loss < 1 else { return loss >= 1 }
        let burst = Double(max(1, self["burst"]))
        // Bursts of one are losses that do not depend on each other.
        let recovery = self["burst"] > 1 ? 1 / burst : 1 - loss
        let onset = self["burst"] > 1 ? loss / (burst * (1 - loss)) : loss
        isLosing = Double.random(in: 0..<1, using: &random) < (isLosing ? 1 - recovery : onset)
        return isLosing
    }
}

/// One end: an interface whose frames this process reads.
private struct Tap {
    private struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Int32

    init(_ name: String) throws {
        descriptor = unsafe open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        // struct ifreq: 16 bytes of name, then the flags IFF_TAP and IFF_NO_PI.
        var request = Array(name.utf8.prefix(15))
        request += Array(repeating: 0, count: 40 - request.count)
        (request[16], request[17]) = (0x02, 0x10)
        let setInterface: UInt = 0x4004_54CA
        guard descriptor >= 0, unsafe ioctl(descriptor, setInterface, &request) == 0 else {
            throw Refused(description: "\(name): \(unsafe String(cString: strerror(errno)))")
        }
    }

    func read() -> [UInt8]? {
        let frame = unsafe [UInt8](unsafeUninitializedCapacity: 2_048) { buffer, count in
            count = unsafe max(0, Foundation.read(descriptor, buffer.baseAddress, 2_048))
        }
        return frame.isEmpty ? nil : frame
    }

    /// Writes a frame, which is lost if the interface is down, as on any cable.
    func write(_ frame: [UInt8]) {
        _ = unsafe frame.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) }
    }

    static func wait(for ends: [Self], milliseconds: Int32) {
        var waiting = ends.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        _ = unsafe poll(&waiting, nfds_t(waiting.count), milliseconds)
    }
}

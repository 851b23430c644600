internal import CQUICShim
internal import Identity
internal import Transport

/// The UDP sockets of an endpoint: one per family, on the same port where that is possible.
///
/// Made on one thread and then used by the I/O thread alone, hence `@unchecked Sendable`.
@safe
final class Sockets: @unchecked Sendable {
    /// The bound addresses.
    let addresses: [SocketAddress]
    /// The sockets of the families first, then those of the further ports.
    private var raw: [OpaquePointer?]
    private let families: [UInt8]
    private var furtherPorts: [UInt16] = []
    /// Further ports to close once no connection uses them.
    private var abandonedPorts: [UInt16] = []
    /// Whether an abandoned port may have lost its last connection since ``takePortsToReview()``.
    private var mustReview = false
    private var readable: [Bool]
    let batch: ReceiveBatch
    private let fault: Fault?

    /// The most further ports of an endpoint: those of three searches.
    private static let maximumFurtherPorts = 768

    /// The most attempts to find a free port that both families can have.
    private static let attempts = 16

    init(addresses wanted: [SocketAddress], seams: Seams) throws(TransportError) {
        guard !wanted.isEmpty, wanted.count <= 2, Set(wanted.map(\.isIPv6)).count == wanted.count else {
            throw .initializationFailed("bind at most one IPv4 and one IPv6 address")
        }
        guard let batch = ReceiveBatch() else { throw .initializationFailed("no more file descriptors or memory") }
        self.batch = batch
        var opened = Opened()
        for attempt in 1...Self.attempts {
            opened = try Opened(wanted, isLastAttempt: attempt == Self.attempts)
            if opened.isComplete { break }
            opened.close()
        }
        unsafe raw = opened.sockets
        addresses = opened.addresses.compactMap(\.socketAddress)
        families = opened.addresses.map(\.family)
        readable = [Bool](repeating: true, count: opened.addresses.count)
        fault = Fault(seams)
        for index in families.indices {
            let udp = unsafe raw[index]
            if let fault { unsafe ru_udp_set_fault(udp, Fault.ask, Unmanaged.passUnretained(fault).toOpaque()) }
            if seams.isSegmentationOff { unsafe ru_udp_stop_segmentation(udp) }
        }
    }

    deinit {
        close()
    }

    var count: Int { readable.count }

    subscript(index: Int) -> OpaquePointer? { unsafe raw[index] }

    func isReadable(_ index: Int) -> Bool { readable[index] }

    func isFurther(port: UInt16) -> Bool { furtherPorts.contains(port) }

    /// The socket of a family on that port; its own one where no further socket has the port.
    func socket(family: UInt8, port: UInt16? = nil) -> OpaquePointer? {
        if family == 4, let port, let index = furtherPorts.firstIndex(of: port) {
            return unsafe raw[families.count + index]
        }
        guard let index = families.firstIndex(of: family) else { return nil }
        return unsafe raw[index]
    }

    // MARK: Further ports

    /// Opens further IPv4 sockets.
    func openPorts(count: Int) -> [UInt16] {
        guard var wanted = address(family: 4) else { return [] }
        let own = wanted.port
        wanted.port = 0
        var opened: [UInt16] = []
        // Held until the others are open, so that the system gives its number to none of them.
        var reserved: OpaquePointer?
        defer { if let reserved = unsafe reserved { unsafe ru_udp_free(reserved) } }
        while opened.count < count, furtherPorts.count < Self.maximumFurtherPorts {
            var address = ru_addr(wanted)
            var error: Int32 = 0
            guard let udp = unsafe ru_udp_bind(&address, &error) else { break }
            // The engine uses that number as an alias port.
            guard address.port != own ^ 0x8000 else {
                unsafe reserved = udp
                continue
            }
            unsafe raw.append(udp)
            furtherPorts.append(address.port)
            readable.append(true)
            opened.append(address.port)
        }
        return opened
    }

    /// Closes further ports; those in `used` once no connection uses them.
    func closePorts(_ ports: [UInt16], butAbandon used: Set<UInt16>) {
        abandonedPorts.removeAll { ports.contains($0) }
        for port in ports {
            guard let index = furtherPorts.firstIndex(of: port) else { continue }
            guard !used.contains(port) else {
                abandonedPorts.append(port)
                continue
            }
            furtherPorts.remove(at: index)
            unsafe ru_udp_free(raw.remove(at: families.count + index))
            readable.remove(at: families.count + index)
        }
    }

    /// Notes that a connection ended, which may have used an abandoned port.
    func noteEnding() {
        if !abandonedPorts.isEmpty { mustReview = true }
    }

    /// Returns the abandoned ports if a connection has ended since the last call, and none otherwise.
    func takePortsToReview() -> [UInt16] {
        guard mustReview else { return [] }
        mustReview = false
        return abandonedPorts
    }

    /// The bound address of a family.
    func address(family: UInt8) -> SocketAddress? {
        families.firstIndex(of: family).map { addresses[$0] }
    }

    /// Marks all sockets to be read.
    func markReadable() {
        for index in readable.indices { readable[index] = true }
    }

    /// Marks the sockets to be read that `body` chooses.
    func markReadable(_ body: (UnsafePointer<OpaquePointer?>?, Int, UnsafeMutablePointer<Bool>?) -> Void) {
        unsafe raw.withUnsafeBufferPointer { raw in
            unsafe readable.withUnsafeMutableBufferPointer { unsafe body(raw.baseAddress, raw.count, $0.baseAddress) }
        }
    }

    func close() {
        unsafe raw.forEach { unsafe ru_udp_free($0) }
        unsafe raw = unsafe raw.map { _ in nil }
        for index in readable.indices { readable[index] = false }
    }
}

/// Room for the datagrams of one read from a socket.
@safe
struct ReceiveBatch: ~Copyable {
    let raw: OpaquePointer

    init?() {
        guard let raw = unsafe ru_batch_new() else { return nil }
        unsafe self.raw = unsafe raw
    }

    deinit {
        unsafe ru_batch_free(raw)
    }
}

/// The advice for an address that cannot be bound.
package enum BindAdvice {
    /// Lower ports are the system's.
    private static let firstOpenPort: UInt16 = 1024

    package static func text(port: UInt16, isDenied: Bool) -> String {
        isDenied && (1..<firstOpenPort).contains(port)
            ? "ports below \(firstOpenPort) need special rights: take a higher one"
            : "choose an address of this machine and a free port"
    }
}

/// Sockets while they are being opened.
@safe
private struct Opened {
    var sockets: [OpaquePointer?] = unsafe []
    var addresses: [ru_addr] = []
    var isComplete = false

    init() {}

    init(_ wanted: [SocketAddress], isLastAttempt: Bool) throws(TransportError) {
        var sharedPort: UInt16?
        for address in wanted {
            var address = ru_addr(address)
            let mayChoose = address.port == 0
            if mayChoose { address.port = sharedPort ?? 0 }
            var error: Int32 = 0
            var udp = unsafe ru_udp_bind(&address, &error)
            if unsafe udp == nil, mayChoose, sharedPort != nil {
                // Taken in this family: look for a port that both have, and in the end for any.
                guard isLastAttempt else { return }
                address.port = 0
                unsafe udp = ru_udp_bind(&address, &error)
            }
            guard let udp = unsafe udp else {
                // A system without one of the families still has the other.
                if wanted.count > 1, Self.isFamilyMissing(error) { continue }
                close()
                let place = address.socketAddress?.description ?? "?"
                let why = unsafe String(cString: ru_error_text(error))
                let advice = BindAdvice.text(port: address.port, isDenied: ru_is_denied(error))
                throw .initializationFailed("cannot bind \(place): \(why); \(advice)")
            }
            unsafe sockets.append(udp)
            addresses.append(address)
            sharedPort = sharedPort ?? address.port
        }
        guard !addresses.isEmpty else { throw .initializationFailed("the system has neither IPv4 nor IPv6") }
        isComplete = true
    }

    mutating func close() {
        for index in addresses.indices { unsafe ru_udp_free(sockets[index]) }
        unsafe sockets = []
        addresses = []
    }

    private static func isFamilyMissing(_ error: Int32) -> Bool { ru_is_family_missing(error) }
}

/// The seams of a test that C calls: network errors, and the datagrams that leave.
private final class Fault: Sendable {
    private let fault: (@Sendable (SocketAddress, Int, Int) -> Int32)?
    private let tap: (@Sendable (SocketAddress, [UInt8]) -> Void)?

    /// Returns nil if a test replaces neither.
    init?(_ seams: Seams) {
        guard seams.fault != nil || seams.tap != nil else { return nil }
        fault = seams.fault
        tap = seams.tap
    }

    static let ask: ru_fault = { context, to, bytes, length, segment in
        guard let context = unsafe context, let address = unsafe to?.pointee.socketAddress else { return 0 }
        let seams = unsafe Unmanaged<Fault>.fromOpaque(context).takeUnretainedValue()
        if seams.tap != nil {
            let batch = unsafe Array(UnsafeBufferPointer(start: bytes, count: length))
            seams.show(batch, segment, to: address)
        }
        return seams.fault?(address, length, (length + segment - 1) / segment) ?? 0
    }

    /// Passes each datagram of a batch to the tap.
    private func show(_ batch: [UInt8], _ segment: Int, to address: SocketAddress) {
        for start in stride(from: 0, to: batch.count, by: segment) {
            tap?(address, Array(batch[start..<min(start + segment, batch.count)]))
        }
    }
}

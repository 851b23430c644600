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
    private var raw: [OpaquePointer?]
    private let families: [UInt8]
    private let fault: Fault?

    /// How often another free port is tried that both families can have.
    private static let attempts = 16

    init(addresses wanted: [SocketAddress], seams: Seams) throws(TransportError) {
        guard !wanted.isEmpty, wanted.count <= 2, Set(wanted.map(\.isIPv6)).count == wanted.count else {
            throw .initializationFailed("bind at most one IPv4 and one IPv6 address")
        }
        var opened = Opened()
        for attempt in 1...Self.attempts {
            opened = try Opened(wanted, isLastAttempt: attempt == Self.attempts)
            if opened.isComplete { break }
            opened.close()
        }
        unsafe raw = opened.sockets
        addresses = opened.addresses.compactMap(\.socketAddress)
        families = opened.addresses.map(\.family)
        fault = seams.fault.map(Fault.init)
        for index in families.indices {
            let udp = unsafe raw[index]
            if let fault { unsafe rq_udp_set_fault(udp, Fault.ask, Unmanaged.passUnretained(fault).toOpaque()) }
            if seams.isSegmentationOff { unsafe rq_udp_stop_segmentation(udp) }
        }
    }

    deinit {
        close()
    }

    var count: Int { families.count }

    subscript(index: Int) -> OpaquePointer? { unsafe raw[index] }

    func socket(family: UInt8) -> OpaquePointer? {
        guard let index = families.firstIndex(of: family) else { return nil }
        return unsafe raw[index]
    }

    /// The bound address of a family.
    func address(family: UInt8) -> SocketAddress? {
        families.firstIndex(of: family).map { addresses[$0] }
    }

    func withAll<R>(_ body: (UnsafePointer<OpaquePointer?>?, Int) -> R) -> R {
        unsafe raw.withUnsafeBufferPointer { unsafe body($0.baseAddress, $0.count) }
    }

    func close() {
        for index in families.indices { unsafe rq_udp_free(raw[index]) }
        unsafe raw = families.map { _ in nil }
    }
}

/// Sockets while they are being opened.
@safe
private struct Opened {
    var sockets: [OpaquePointer?] = unsafe []
    var addresses: [rq_addr] = []
    var isComplete = false

    init() {}

    init(_ wanted: [SocketAddress], isLastAttempt: Bool) throws(TransportError) {
        var sharedPort: UInt16?
        for address in wanted {
            var address = rq_addr(address)
            let mayChoose = address.port == 0
            if mayChoose { address.port = sharedPort ?? 0 }
            var error: Int32 = 0
            var udp = unsafe rq_udp_bind(&address, &error)
            if unsafe udp == nil, mayChoose, sharedPort != nil {
                // Taken in this family: look for a port that both have, and in the end for any.
                guard isLastAttempt else { return }
                address.port = 0
                unsafe udp = rq_udp_bind(&address, &error)
            }
            guard let udp = unsafe udp else {
                // A system without one of the families still has the other.
                if wanted.count > 1, Self.isFamilyMissing(error) { continue }
                close()
                let place = address.socketAddress?.description ?? "?"
                let why = unsafe String(cString: rq_error_text(error))
                throw .initializationFailed(
                    "cannot bind \(place): \(why); it takes an address of this machine and a port that nobody uses"
                )
            }
            unsafe sockets.append(udp)
            addresses.append(address)
            sharedPort = sharedPort ?? address.port
        }
        guard !addresses.isEmpty else { throw .initializationFailed("the system has neither IPv4 nor IPv6") }
        isComplete = true
    }

    mutating func close() {
        for index in addresses.indices { unsafe rq_udp_free(sockets[index]) }
        unsafe sockets = []
        addresses = []
    }

    private static func isFamilyMissing(_ error: Int32) -> Bool { rq_is_family_missing(error) }
}

/// A test's network errors, where C can ask for them.
private final class Fault: Sendable {
    let body: @Sendable (SocketAddress, Int, Int) -> Int32

    init(_ body: @escaping @Sendable (SocketAddress, Int, Int) -> Int32) {
        self.body = body
    }

    static let ask: rq_fault = { context, to, length, segments in
        guard let context = unsafe context, let address = unsafe to?.pointee.socketAddress else { return 0 }
        return unsafe Unmanaged<Fault>.fromOpaque(context).takeUnretainedValue().body(address, length, segments)
    }
}

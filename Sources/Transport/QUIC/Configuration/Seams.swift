internal import Bytes
internal import Identity

/// The parts of an endpoint that tests replace: the clock, the network's errors, and its credentials in TLS.
struct Seams: Sendable {
    /// Nanoseconds of a clock; nil is CLOCK_MONOTONIC.
    var now: (@Sendable () -> UInt64)?
    /// Called before each GSO batch leaves; returns an errno to fail with, or 0.
    var fault: (@Sendable (_ to: SocketAddress, _ byteCount: Int, _ segmentCount: Int) -> Int32)?
    /// Called with each datagram before it leaves one of the endpoint's own ports, which ``Endpoint/openPorts(count:)`` are
    /// not.
    var tap: (@Sendable (_ to: SocketAddress, _ datagram: [UInt8]) -> Void)?
    /// Sends one datagram per system call.
    var isSegmentationOff = false
    /// Other certificates than that of the identity.
    var credentials: Credentials?
    /// Another TLS priority string.
    var priority: String?
    /// The protocol that both sides must name.
    var applicationProtocol = "runar-p2p-1"
}

/// Certificates (DER) and their key (PKCS#8, DER).
struct Credentials: Sendable {
    var certificates: [[UInt8]]
    var privateKey: SecretBytes
}

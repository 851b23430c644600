internal import Identity
internal import Libc

/// The result of one read from a UDP socket.
enum DatagramReception {
    /// The number of bytes, and the claimed sender.
    case datagram(count: Int, source: SocketAddress)
    /// No datagram is available.
    case empty
    /// The socket can no longer be used.
    case failed

    /// Reads one datagram from a socket that never blocks.
    init(from descriptor: Int32, into buffer: inout [UInt8]) {
        var source = SystemAddress()
        let count = unsafe buffer.withUnsafeMutableBytes { room in
            unsafe source.withMutablePointer { address, length in
                unsafe recvfrom(descriptor, room.baseAddress, room.count, 0, address, length)
            }
        }
        if count < 0 {
            self = errno == EAGAIN || errno == EINTR ? .empty : .failed
        } else if let address = source.socketAddress {
            self = .datagram(count: count, source: address)
        } else {
            self = .empty
        }
    }
}

extension SystemAddress {
    /// Sends a datagram to this address; minus one is a failure.
    func sendDatagram(_ bytes: [UInt8], from descriptor: Int32) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe withPointer { unsafe sendto(descriptor, bytes.baseAddress, bytes.count, noSignal, $0, $1) }
        }
    }
}

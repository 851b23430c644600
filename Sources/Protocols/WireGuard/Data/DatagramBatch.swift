package import Identity

/// A reusable arena of datagrams, back to back, each with its endpoint.
///
/// Datagrams of one run have one endpoint and follow each other without a gap, as segmentation offload needs them. After
/// ``removeAll()`` the memory is kept: a batch that is reused does not allocate.
package struct DatagramBatch: Sendable {
    /// A datagram's place in the memory, and its endpoint: the destination of sent ones, the source of received ones.
    package struct Datagram: Sendable {
        /// The bytes in the memory of the batch.
        package var range: Range<Int>
        /// The other side's address.
        package var endpoint: SocketAddress
    }

    /// The bytes of all datagrams.
    package private(set) var memory: [UInt8] = []
    /// The datagrams in order.
    package private(set) var datagrams: [Datagram] = []

    /// An empty batch with room for `byteCount` bytes.
    package init(byteCapacity: Int = 0) {
        memory.reserveCapacity(byteCapacity)
    }

    /// The number of datagrams.
    package var count: Int { datagrams.count }

    /// Whether the batch has no datagrams.
    package var isEmpty: Bool { datagrams.isEmpty }

    /// The bytes of a datagram, which share the memory of the batch: do not keep the slice.
    package subscript(index: Int) -> ArraySlice<UInt8> { memory[datagrams[index].range] }

    /// Appends a copy of a datagram.
    package mutating func append(_ datagram: some Collection<UInt8>, endpoint: SocketAddress) {
        let start = memory.count
        memory.append(contentsOf: datagram)
        datagrams.append(Datagram(range: start..<memory.count, endpoint: endpoint))
    }

    /// Appends a copy of a datagram.
    @unsafe package mutating func append(_ datagram: UnsafeRawBufferPointer, endpoint: SocketAddress) {
        let start = memory.count
        unsafe memory.append(contentsOf: datagram)
        datagrams.append(Datagram(range: start..<memory.count, endpoint: endpoint))
    }

    /// Removes all datagrams and keeps the memory.
    package mutating func removeAll() {
        memory.removeAll(keepingCapacity: true)
        datagrams.removeAll(keepingCapacity: true)
    }

    /// Appends a transport message whose sealed box, with its nonce of 12 bytes, begins 4 bytes after its start.
    mutating func appendTransport(_ header: TransportHeader, box: some Collection<UInt8>, endpoint: SocketAddress) {
        let start = memory.count
        memory.append(contentsOf: repeatElement(0, count: 4))
        memory.append(contentsOf: box)
        header.write(to: &memory, at: start)
        datagrams.append(Datagram(range: start..<memory.count, endpoint: endpoint))
    }

    /// Returns the header of a transport message; nil if the datagram is another message.
    func transportHeader(at index: Int) -> TransportHeader? {
        let range = datagrams[index].range
        return unsafe memory.withUnsafeBytes { bytes in
            unsafe TransportHeader(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }

    /// Calls `body` with the nonce, the ciphertext and the tag of a transport message, which lie in a row once the index in
    /// front of the counter is zero.
    mutating func withSealedBox<R>(at index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let range = datagrams[index].range
        return unsafe memory.withUnsafeMutableBytes { bytes in
            let message = unsafe bytes[range]
            let box = unsafe UnsafeMutableRawBufferPointer(rebasing: message[(range.lowerBound + 4)...])
            unsafe box.storeBytes(of: 0, as: UInt32.self)
            return unsafe body(UnsafeRawBufferPointer(box))
        }
    }
}

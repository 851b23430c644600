internal import CRunar
internal import Concurrency
internal import Essentials
internal import RunarNode

/// The memory that programs in C own and free: blocks that are known by their addresses, so that freeing one twice or
/// as something else does no harm.
enum Memory {
    private enum Kind: Sendable {
        case text
        case error
        case result
    }

    private static let blocks = Locked<[UInt: Kind]>([:])

    // MARK: - Making

    /// A text with a zero at its end.
    static func text(_ text: String) -> UnsafeMutablePointer<CChar> {
        let block = unsafe allocate(text.utf8.count + 1, .text)
        unsafe write(text, to: block)
        return unsafe block.bindMemory(to: CChar.self, capacity: text.utf8.count + 1)
    }

    /// An error with its texts, in one block.
    static func error(_ error: RunarError) -> UnsafeMutablePointer<runar_error> {
        let block = unsafe allocate(size(of: error), .error)
        return unsafe write(error, to: block)
    }

    /// An answer with its bytes, in one block.
    static func result(_ bytes: Data) -> UnsafeMutablePointer<runar_data_result> {
        let header = unsafe MemoryLayout<runar_data_result>.stride
        let block = unsafe allocate(header + max(bytes.count, 1), .result)
        let data = unsafe (block + header).bindMemory(to: UInt8.self, capacity: max(bytes.count, 1))
        unsafe bytes.copyBytes(to: data, count: bytes.count)
        let result = unsafe block.bindMemory(to: runar_data_result.self, capacity: 1)
        unsafe result.initialize(to: runar_data_result(data: data, length: bytes.count, error: nil))
        return unsafe result
    }

    /// A failure in the place of an answer, in one block.
    static func result(_ error: RunarError) -> UnsafeMutablePointer<runar_data_result> {
        let header = unsafe MemoryLayout<runar_data_result>.stride
        let block = unsafe allocate(header + size(of: error), .result)
        let written = unsafe write(error, to: (block + header))
        let result = unsafe block.bindMemory(to: runar_data_result.self, capacity: 1)
        unsafe result.initialize(to: runar_data_result(data: nil, length: 0, error: written))
        return unsafe result
    }

    // MARK: - Freeing

    static func free(_ text: UnsafeMutablePointer<CChar>?) {
        unsafe free(UnsafeMutableRawPointer(text), .text)
    }

    static func free(_ error: UnsafeMutablePointer<runar_error>?) {
        unsafe free(UnsafeMutableRawPointer(error), .error)
    }

    static func free(_ result: UnsafeMutablePointer<runar_data_result>?) {
        unsafe free(UnsafeMutableRawPointer(result), .result)
    }

    // MARK: - Inside

    private static func allocate(_ count: Int, _ kind: Kind) -> UnsafeMutableRawPointer {
        let alignment = unsafe MemoryLayout<runar_data_result>.alignment
        let block = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: alignment)
        let address = UInt(bitPattern: block)
        blocks.withLock { $0[address] = kind }
        return unsafe block
    }

    private static func free(_ block: UnsafeMutableRawPointer?, _ kind: Kind) {
        guard let block = unsafe block else { return }
        let address = UInt(bitPattern: block)
        let isOurs = blocks.withLock { blocks in
            guard blocks[address] == kind else { return false }
            blocks[address] = nil
            return true
        }
        if isOurs { unsafe block.deallocate() }
    }

    private static func size(of error: RunarError) -> Int {
        unsafe MemoryLayout<runar_error>.stride + error.message.utf8.count + 1 + error.context.utf8.count + 1
    }

    @discardableResult
    private static func write(
        _ error: RunarError,
        to block: UnsafeMutableRawPointer
    ) -> UnsafeMutablePointer<runar_error> {
        let message = unsafe block + MemoryLayout<runar_error>.stride
        let context = unsafe message + (error.message.utf8.count + 1)
        unsafe write(error.message, to: message)
        unsafe write(error.context, to: context)
        let written = unsafe block.bindMemory(to: runar_error.self, capacity: 1)
        unsafe written.initialize(
            to: runar_error(
                code: error.code,
                message: UnsafePointer(message.assumingMemoryBound(to: CChar.self)),
                context: UnsafePointer(context.assumingMemoryBound(to: CChar.self))
            )
        )
        return unsafe written
    }

    /// Writes a text; a zero inside it would end it early in C, and becomes a blank.
    private static func write(_ text: String, to place: UnsafeMutableRawPointer) {
        var offset = 0
        for byte in text.utf8 {
            unsafe place.storeBytes(of: byte == 0 ? 0x20 : byte, toByteOffset: offset, as: UInt8.self)
            offset += 1
        }
        unsafe place.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self)
    }
}

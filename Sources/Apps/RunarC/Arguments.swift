internal import CRunar
internal import Circle
internal import Essentials
internal import RunarNode

/// Reads the arguments of programs in C, and refuses invalid ones.
enum Arguments {
    static func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(RunarError) -> String {
        guard let text = try unsafe optionalText(pointer, name) else { throw missing(name) }
        return text
    }

    static func optionalText(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(RunarError) -> String? {
        guard let pointer = unsafe pointer else { return nil }
        guard let text = unsafe String(validatingCString: pointer) else {
            throw .failure(.invalidText, message: "\(name) is not UTF-8", context: name)
        }
        return text
    }

    static func data(_ pointer: UnsafePointer<UInt8>?, _ length: Int, _ name: String) throws(RunarError) -> Data {
        guard length > 0 else {
            guard length == 0 else { throw refused("\(name) is longer than the memory of any machine", name) }
            return Data()
        }
        guard let pointer = unsafe pointer else { throw missing(name) }
        return unsafe Data(bytes: pointer, count: length)
    }

    static func peerId(_ text: String) throws(RunarError) -> PeerId {
        guard let id = PeerId(text) else { throw refused("this is no peer id", text) }
        return id
    }

    static func networkId(_ text: String) throws(RunarError) -> NetworkId {
        guard let id = NetworkId(text) else { throw refused("this is no network id", text) }
        return id
    }

    /// Reads the public id of a person or a thought.
    static func publicId(_ text: String, _ name: String) throws(RunarError) -> PublicID {
        do throws(CircleError) {
            return try PublicID(text: text)
        } catch {
            throw refused("\(name) is no public id: \(error)", text)
        }
    }

    /// A struct that begins with its size, from a program whose version may have fewer or more fields than this library.
    static func versioned<Struct>(
        _ pointer: UnsafePointer<Struct>,
        into value: inout Struct,
        size: Int,
        _ name: String
    ) throws(RunarError) {
        let known = MemoryLayout<Struct>.size
        guard size >= MemoryLayout<Int>.size, size <= 1 << 16 else {
            throw refused("\(name).size is \(size): begin with its initializer", name)
        }
        let source = unsafe UnsafeRawBufferPointer(start: pointer, count: size)
        for offset in stride(from: known, to: size, by: 1) {
            guard unsafe source[offset] == 0 else {
                throw refused("\(name) has a field that this version of the library does not know", name)
            }
        }
        unsafe withUnsafeMutableBytes(of: &value) { target in
            unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(known)))
        }
    }

    static func missing(_ name: String) -> RunarError {
        .failure(.nullArgument, message: "\(name) is NULL", context: name)
    }

    static func refused(_ message: String, _ context: String) -> RunarError {
        .failure(.invalidParameters, message: message, context: context)
    }

    static func noHandle(_ kind: String) -> RunarError {
        .failure(.nullArgument, message: "this is no \(kind), or one that was freed", context: kind)
    }

    // MARK: - Numbers

    /// Returns the encoding of a payload; nil for bytes that only the two programs understand.
    static func encoding(_ number: Int32) throws(RunarError) -> PayloadEncoding? {
        switch UInt32(bitPattern: number) {
        case RUNAR_ENCODING_NONE.rawValue, RUNAR_ENCODING_JSON.rawValue: return .json
        case RUNAR_ENCODING_CBOR.rawValue: return .cbor
        case RUNAR_ENCODING_BYTES.rawValue: return nil
        default: throw refused("there is no encoding \(number)", "encoding")
        }
    }

    /// The number of the encoding of a request.
    static func number(of request: RunarRequest) -> Int32 {
        let number =
            switch request.encoding {
            case nil: request.payload.isEmpty ? RUNAR_ENCODING_NONE : RUNAR_ENCODING_BYTES
            case .json: RUNAR_ENCODING_JSON
            case .cbor: RUNAR_ENCODING_CBOR
            }
        return Int32(bitPattern: number.rawValue)
    }

    static func milliseconds(until deadline: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (deadline - .now).components
        return max(0, seconds &* 1_000 &+ attoseconds / 1_000_000_000_000_000)
    }
}

/// Clears the place for an error that a function's last argument points to, and stores errors there.
@safe struct ErrorPlace {
    let pointer: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?

    init(_ pointer: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?) {
        unsafe self.pointer = unsafe pointer
        if let pointer = unsafe pointer { unsafe pointer.pointee = nil }
    }

    /// Returns the result of `body`, or nil and writes an error to the place.
    func run<Success>(_ body: () throws -> Success) -> Success? {
        do {
            return try body()
        } catch {
            if let pointer = unsafe self.pointer { unsafe pointer.pointee = unsafe Memory.error(RunarError(error)) }
            return nil
        }
    }
}

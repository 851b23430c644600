internal import Concurrency
package import Platform

/// A disk of one directory, `/`, that can fail at any system call and lose power after any.
///
/// The model: bytes of a file are safe once it was synchronized; before, any beginning of them may survive. Changes of
/// names are safe once the directory was synchronized; before, they survive in order up to any point. It does not model
/// disks that lie about synchronizing.
package final class SimulatedDisk: FileSystem {
    package typealias Image = [String: [UInt8]]

    /// The fault at one of the calls, which are counted from 0.
    package enum Fault: Sendable {
        case none
        /// The call has no effect and fails; later ones work.
        case failure(at: Int)
        /// The call still has its effect, then the power is lost.
        case powerLoss(after: Int)
    }

    private struct File {
        var bytes: [UInt8] = []
        var safeBytes: [UInt8] = []
    }

    private enum Change {
        case link(String, Int)
        case unlink(String)
        case rename(String, String)
    }

    private struct State {
        var files: [Int: File] = [:]
        var names: [String: Int] = [:]
        var safeNames: [String: Int] = [:]
        var changes: [Change] = []
        var descriptors: [Int32: (file: Int, offset: Int)] = [:]
        var locks: [Int: Int32] = [:]
        var next = 3
        var calls = 0
        var isDead = false
        var longestWrite = Int.max
    }

    private let state: Locked<State>
    private let fault: Fault
    private let owner: UInt32

    package init(
        _ image: Image = [:],
        fault: Fault = .none,
        longestWrite: Int = .max,
        isForeign: Bool = false,
        userId: UInt32 = 1
    ) {
        owner = isForeign ? 2 : 1
        self.userId = userId
        var state = State()
        state.longestWrite = longestWrite
        for (name, bytes) in image {
            state.files[state.next] = File(bytes: bytes, safeBytes: bytes)
            state.names[name] = state.next
            state.next += 1
        }
        state.safeNames = state.names
        self.state = Locked(state)
        self.fault = fault
    }

    /// The number of calls so far.
    package var calls: Int { state.withLock { $0.calls } }

    /// The files as a program reads them now.
    package var image: Image { state.withLock { state in state.names.mapValues { state.files[$0]?.bytes ?? [] } } }

    /// Every possible content after the power is restored.
    package var imagesAfterPowerLoss: [Image] {
        state.withLock { state in
            var images: [Image] = []
            for survivors in 0...state.changes.count {
                var names = state.safeNames
                for change in state.changes.prefix(survivors) { Self.apply(change, to: &names) }
                for part in [0.0, 0.5, 1.0] {
                    let image = names.mapValues { id -> [UInt8] in
                        let file = state.files[id] ?? File()
                        guard file.bytes != file.safeBytes else { return file.bytes }
                        return part == 0
                            ? file.safeBytes : [UInt8](file.bytes.prefix(Int(Double(file.bytes.count) * part)))
                    }
                    if !images.contains(image) { images.append(image) }
                }
            }
            return images
        }
    }

    private static func apply(_ change: Change, to names: inout [String: Int]) {
        switch change {
        case .link(let name, let id): names[name] = id
        case .unlink(let name): names[name] = nil
        case .rename(let source, let destination): names[destination] = names.removeValue(forKey: source)
        }
    }

    /// Counts a call and injects the fault.
    private func call<R>(
        _ operation: String,
        _ path: String,
        _ body: (inout State) throws(FileError) -> R
    ) throws(FileError) -> R {
        try state.withLock { state throws(FileError) in
            let number = state.calls
            state.calls += 1
            let broken = FileError(operation: operation, path: path, code: SystemErrors.inputOutput)
            if state.isDead { throw broken }
            switch fault {
            case .failure(let position) where position == number:
                throw broken
            case .powerLoss(let position) where position == number:
                _ = try body(&state)
                state.isDead = true
                throw broken
            default:
                return try body(&state)
            }
        }
    }

    private static func change(_ change: Change, in state: inout State) {
        apply(change, to: &state.names)
        state.changes.append(change)
    }

    package let userId: UInt32

    package func open(_ path: String, for use: FileUse) throws(FileError) -> Int32 {
        try call("open", path) { state throws(FileError) in
            let existing = state.names[path]
            if use == .reading || use == .readingNamed, existing == nil {
                throw FileError(operation: "open", path: path, code: SystemErrors.notFound)
            }
            if use == .creating, existing != nil {
                throw FileError(operation: "open", path: path, code: SystemErrors.exists)
            }
            let id = existing ?? state.next
            if existing == nil {
                state.files[id] = File()
                Self.change(.link(path, id), in: &state)
            }
            state.next += 2
            state.descriptors[Int32(state.next - 1)] = (id, 0)
            return Int32(state.next - 1)
        }
    }

    package func read(_ descriptor: Int32, count: Int, path: String) throws(FileError) -> [UInt8] {
        try call("read", path) { state in
            guard let (id, offset) = state.descriptors[descriptor], let file = state.files[id] else { return [] }
            let bytes = [UInt8](file.bytes.dropFirst(offset).prefix(count))
            state.descriptors[descriptor] = (id, offset + bytes.count)
            return bytes
        }
    }

    package func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, path: String) throws(FileError) -> Int {
        try call("write", path) { state in
            guard let (id, offset) = state.descriptors[descriptor], var file = state.files[id] else { return 0 }
            let taken = bytes.prefix(state.longestWrite)
            file.bytes.replaceSubrange(offset..<min(file.bytes.count, offset + taken.count), with: taken)
            state.files[id] = file
            state.descriptors[descriptor] = (id, offset + taken.count)
            return taken.count
        }
    }

    package func setMode(_ mode: UInt32, of descriptor: Int32, path: String) throws(FileError) {
        try call("set the mode of", path) { _ in }
    }

    package func synchronize(_ descriptor: Int32, path: String) throws(FileError) {
        try call("synchronize", path) { state in
            guard let id = state.descriptors[descriptor]?.file, let bytes = state.files[id]?.bytes else { return }
            state.files[id]?.safeBytes = bytes
        }
    }

    package func close(_ descriptor: Int32) {
        state.withLock { state in
            guard let id = state.descriptors.removeValue(forKey: descriptor)?.file else { return }
            if state.locks[id] == descriptor { state.locks[id] = nil }
        }
    }

    package func rename(_ source: String, to destination: String) throws(FileError) {
        try call("replace", destination) { Self.change(.rename(source, destination), in: &$0) }
    }

    package func remove(_ path: String) throws(FileError) {
        try call("remove", path) { state in Self.change(.unlink(path), in: &state) }
    }

    package func synchronizeDirectory(_ path: String) throws(FileError) {
        try call("synchronize", path) { state in
            state.safeNames = state.names
            state.changes = []
        }
    }

    package func makeDirectory(_ path: String, mode: UInt32) throws(FileError) {
        throw FileError(operation: "make the directory", path: path, code: SystemErrors.accessDenied)
    }

    package func names(in directory: String) throws(FileError) -> [String] {
        try call("list", directory) { state in state.names.keys.map { String($0.dropFirst()) } }
    }

    package func status(of path: String, followingLink: Bool) throws(FileError) -> FileStatus? {
        try call("look at", path) { state in
            state.names[path].flatMap { state.files[$0] }
                .map { file in
                    let kind: FileStatus.Kind = path == "/" ? .directory : .file
                    return FileStatus(kind: kind, mode: 0o600, owner: owner, byteCount: file.bytes.count)
                }
        }
    }

    package func lock(_ descriptor: Int32, path: String) throws(FileError) -> Bool {
        try call("lock", path) { state in
            guard let id = state.descriptors[descriptor]?.file, state.locks[id] == nil else { return false }
            state.locks[id] = descriptor
            return true
        }
    }

    package func unlock(_ descriptor: Int32) {
        state.withLock { state in
            guard let id = state.descriptors[descriptor]?.file, state.locks[id] == descriptor else { return }
            state.locks[id] = nil
        }
    }
}

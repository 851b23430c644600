internal import Concurrency

/// The handles of objects for programs in C: numbers in the shape of pointers, each given out once in a process.
///
/// A stale, foreign or invented number finds nothing, whatever it was before.
final class HandleTable<Object: Sendable>: Sendable {
    private let objects = Locked<[UInt: Object]>([:])

    /// Gives an object a number.
    func add(_ object: Object) -> UInt {
        let number = Handles.nextNumber()
        objects.withLock { $0[number] = object }
        return number
    }

    /// The object of a number that was not taken back.
    subscript(_ number: UInt) -> Object? {
        objects.withLock { $0[number] }
    }

    /// The object of a number in its other shape.
    subscript(_ handle: OpaquePointer?) -> Object? {
        self[UInt(bitPattern: handle)]
    }

    /// Takes a number back; nil if it is none, or was taken back before.
    @discardableResult
    func remove(_ number: UInt) -> Object? {
        objects.withLock { $0.removeValue(forKey: number) }
    }
}

/// All that has a number.
enum Handles {
    static let nodes = HandleTable<NodeHandle>()
    static let services = HandleTable<ServiceHandle>()
    static let requests = HandleTable<RequestHandle>()

    private static let last = Locked<UInt>(0xFF0)

    /// Returns a number that was never used before, and that no pointer to anything in use is likely to have.
    static func nextNumber() -> UInt {
        last.withLock { last in
            last += 16
            return last
        }
    }
}

internal import Bytes
internal import Identity

/// A service as its node offers it to others.
package struct ServiceOffer: Hashable, Sendable {
    /// The most services of one node in one network.
    package static let countLimit = 256
    /// The most actions of a service.
    package static let actionLimit = 256
    /// The longest version, in bytes.
    package static let versionByteLimit = 64

    /// One segment.
    package var path: String
    package var version: String
    /// Whether it takes requests at present.
    package var isRunning: Bool
    package var actions: [ActionOffer]

    package init(path: String, version: String = "", isRunning: Bool = true, actions: [ActionOffer] = []) {
        self.path = path
        self.version = version
        self.isRunning = isRunning
        self.actions = actions
    }
}

/// An action of a service.
package struct ActionOffer: Hashable, Sendable {
    /// The part of a path behind the service, such as `users/{id}`: a path or a pattern.
    package var name: String
    /// Whether the action may be performed twice without harm.
    package var isIdempotent: Bool
    /// Whether its response is a sequence of items.
    package var streams: Bool

    package init(name: String, isIdempotent: Bool = false, streams: Bool = false) {
        self.name = name
        self.isIdempotent = isIdempotent
        self.streams = streams
    }
}

// The wire form: path, version, flags, actions.
extension ServiceOffer {
    private static let runningFlag: UInt8 = 1
    private static let idempotentFlag: UInt8 = 1
    private static let streamsFlag: UInt8 = 2

    func write(to writer: inout ByteWriter) {
        writer.writeText(path)
        writer.writeText(version)
        writer.write(isRunning ? Self.runningFlag : 0)
        writer.write(UInt16(actions.count))
        for action in actions {
            writer.writeText(action.name)
            writer.write((action.isIdempotent ? Self.idempotentFlag : 0) | (action.streams ? Self.streamsFlag : 0))
        }
    }

    init(reading reader: inout ByteReader) throws {
        let path = try reader.readText(limit: TopicPath.byteLimit)
        let version = try reader.readText(limit: Self.versionByteLimit)
        let flags = try reader.readUInt8()
        let count = Int(try reader.readUInt16())
        guard count <= Self.actionLimit else { throw WireError.malformed("\(count) actions of one service") }
        var actions: [ActionOffer] = []
        for _ in 0..<count {
            let name = try reader.readText(limit: TopicPath.byteLimit)
            let flags = try reader.readUInt8()
            actions.append(
                ActionOffer(
                    name: name,
                    isIdempotent: flags & Self.idempotentFlag != 0,
                    streams: flags & Self.streamsFlag != 0
                )
            )
        }
        self.init(path: path, version: version, isRunning: flags & Self.runningFlag != 0, actions: actions)
        try check()
    }

    /// Checks the limits and the syntax of the offer.
    ///
    /// - Throws: `WireError` with the rule that it breaks.
    package func check() throws(WireError) {
        guard RequestPath.topic(path) != nil, !path.utf8.contains(UInt8(ascii: "/")) else {
            throw .malformed("the service \(PlainText.quoted(path))")
        }
        guard version.utf8.count <= Self.versionByteLimit else {
            throw .tooLong("a version", limit: Self.versionByteLimit, found: version.utf8.count)
        }
        guard actions.count <= Self.actionLimit else {
            throw .malformed("\(actions.count) actions of one service, at most \(Self.actionLimit) are allowed")
        }
        for action in actions {
            _ = try pattern(of: action)
        }
    }

    /// The paths that an action stands for.
    func pattern(of action: ActionOffer) throws(WireError) -> TopicPath {
        do {
            let pattern = try TopicPath("\(path)/\(action.name)")
            guard pattern.network.isEmpty, pattern.segments.count > 1 else {
                throw WireError.malformed("the action \(PlainText.quoted(action.name))")
            }
            return pattern
        } catch let error as WireError {
            throw error
        } catch {
            throw .malformed("the action \(PlainText.quoted(action.name)): \(error)")
        }
    }
}

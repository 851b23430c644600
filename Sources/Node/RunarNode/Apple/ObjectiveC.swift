#if canImport(ObjectiveC)
public import Foundation

// The node for programs in Objective-C, in the shapes that those have: classes of NSObject, dictionaries of `id`, completion
// handlers. They are called on no queue in particular. Nothing else in the library knows of this file.

/// A node for Objective-C, which sees it as `RunarNode`; ``node`` is the one of Swift, with everything else.
///
/// Errors have the domain `Runar` and the numbers of ``RunarErrorCode``; their user information has the context under
/// `context`.
@objc(RunarNode) public final class ObjectiveCNode: NSObject, Sendable {
    /// The node of Swift.
    public let node: RunarNode

    /// A node that is set up as `config` says.
    @objc public init(config: ObjectiveCConfig) throws {
        do {
            self.node = try RunarNode(config: config.config)
        } catch {
            throw RunarError(error)
        }
    }

    /// The keys of this node.
    @objc public var keychain: ObjectiveCKeychain { ObjectiveCKeychain(self.node.keychain) }

    /// Goes on the network.
    @objc public func start(completion: @escaping @Sendable ((any Error)?) -> Void) {
        self.run({ try await $0.start() }, completion)
    }

    /// Leaves the network.
    @objc public func stop(completion: @escaping @Sendable ((any Error)?) -> Void) {
        self.run({ await $0.stop() }, completion)
    }

    /// Asks a service; payload and answer hold what JSON can, and `NSData`.
    @objc public func request(
        _ path: String,
        payload: [String: Any]?,
        completion: @escaping @Sendable ([String: Any]?, (any Error)?) -> Void
    ) {
        let values = payload.map { dictionary in Result { try RunarValue.values(of: dictionary) } }
        Task { [node] in
            do {
                let answer: [String: RunarValue] = try await node.request(path, payload: values?.get())
                completion(answer.mapValues(\.foundation), nil)
            } catch {
                completion(nil, RunarError(error))
            }
        }
    }

    /// Asks a service with bytes that only the two programs understand.
    @objc public func requestRaw(
        _ path: String,
        payload: Data?,
        completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        Task { [node] in
            do {
                completion(try await node.request(path, payload: payload) as Data, nil)
            } catch {
                completion(nil, RunarError(error))
            }
        }
    }

    /// Publishes an event.
    @objc public func publish(
        _ topic: String,
        data: [String: Any]?,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let values = data.map { dictionary in Result { try RunarValue.values(of: dictionary) } }
        self.run({ try await $0.publish(topic, data: values?.get()) }, completion)
    }

    /// Subscribes to a topic, or with wildcards to many; the handler gets the topic and the event, which is nil where it is no
    /// dictionary.
    @objc public func subscribe(
        _ topic: String,
        handler: @escaping @Sendable (_ topic: String, _ data: [String: Any]?) -> Void
    ) throws -> ObjectiveCSubscription {
        ObjectiveCSubscription(
            try self.node.subscribe(topic) { event in
                let values = try? event.decode([String: RunarValue].self)  // bytes, or another encoding
                handler(event.topic.path, values?.mapValues(\.foundation))
            }
        )
    }

    /// Offers a service.
    @objc public func addService(_ service: ObjectiveCService, completion: @escaping @Sendable ((any Error)?) -> Void) {
        let service = service.service
        self.run({ try await $0.addService(service) }, completion)
    }

    /// Offers a service no longer.
    @objc public func removeService(_ servicePath: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
        self.run({ try await $0.removeService(servicePath) }, completion)
    }

    /// Describes this node.
    @objc public func getNodeInfo(completion: @escaping @Sendable ([String: Any]?, (any Error)?) -> Void) {
        self.describe({ try await $0.getNodeInfo() }, completion)
    }

    /// The devices that this one knows, under `peers`.
    @objc public func getKnownPeers(completion: @escaping @Sendable ([String: Any]?, (any Error)?) -> Void) {
        self.describe({ ["peers": try await $0.getKnownPeers()] }, completion)
    }

    private func run(
        _ body: @escaping @Sendable (RunarNode) async throws -> Void,
        _ completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        Task { [node] in
            do {
                try await body(node)
                completion(nil)
            } catch {
                completion(RunarError(error))
            }
        }
    }

    private func describe<Info: Encodable & Sendable>(
        _ body: @escaping @Sendable (RunarNode) async throws -> Info,
        _ completion: @escaping @Sendable ([String: Any]?, (any Error)?) -> Void
    ) {
        Task { [node] in
            do {
                let bytes = try PayloadEncoding.json.encode(try await body(node))
                let values = try PayloadEncoding.json.decode([String: RunarValue].self, from: bytes)
                completion(values.mapValues(\.foundation), nil)
            } catch {
                completion(nil, RunarError(error))
            }
        }
    }
}

/// A subscription of a program in Objective-C; it ends when it is cancelled or released.
@objc(RunarSubscription) public final class ObjectiveCSubscription: NSObject, Sendable {
    private let subscription: Subscription

    init(_ subscription: Subscription) {
        self.subscription = subscription
    }

    /// Ends the subscription: its handler receives no further event; a call under way runs to completion.
    @objc public func cancel() { self.subscription.cancel() }
}

/// A service of a program in Objective-C.
@objc(RunarService) public final class ObjectiveCService: NSObject, Sendable {
    /// Takes the answer, or why there is none; only the first call counts.
    public typealias Reply = @Sendable ([String: Any]?, (any Error)?) -> Void

    /// The service of Swift.
    public let service: RunarService

    /// A service without actions.
    @objc public init(name: String, path: String, version: String, description: String) {
        self.service = RunarService(name: name, path: path, version: version, description: description)
    }

    /// The network in which it answers, by id or name; nil for the node's default one.
    @objc public var networkId: String? {
        get { self.service.networkId }
        set { self.service.networkId = newValue }
    }

    /// Adds an action; its handler replies once, whenever it likes.
    @objc public func registerAction(
        _ name: String,
        handler: @escaping @Sendable (_ payload: [String: Any]?, _ reply: @escaping Reply) -> Void
    ) {
        self.service.registerAction(name) {
            (payload: [String: RunarValue]?) async throws -> [String: RunarValue] in
            try await Self.answer(handler, payload)
        }
    }

    /// Registers a handler for each event of a topic.
    @objc public func registerEvent(_ topic: String, handler: @escaping @Sendable (_ data: [String: Any]?) -> Void) {
        self.service.registerEvent(topic) { (data: [String: RunarValue]?) async throws in
            handler(data?.mapValues(\.foundation))
        }
    }

    private static func answer(
        _ handler: @escaping @Sendable (_ payload: [String: Any]?, _ reply: @escaping Reply) -> Void,
        _ payload: [String: RunarValue]?
    ) async throws -> [String: RunarValue] {
        let (answers, queue) = AsyncStream.makeStream(of: Result<[String: RunarValue], any Error>.self)
        handler(payload?.mapValues(\.foundation)) { answer, error in
            queue.yield(
                Result {
                    if let error { throw error }
                    return try RunarValue.values(of: answer ?? [:])
                }
            )
            queue.finish()
        }
        // The loop ends without an answer when the caller is cancelled.
        for await answer in answers { return try answer.get() }
        throw CancellationError()
    }
}

extension RunarError: CustomNSError {
    /// `Runar`.
    public static var errorDomain: String { "Runar" }
    /// The number of the kind of failure.
    public var errorCode: Int { Int(self.code) }
    /// The message, and under `context` the subject of the failure.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: self.message, "context": self.context]
    }
}

extension RunarValue {
    /// The value as an Objective-C object.
    fileprivate var foundation: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): NSNumber(value: value)
        case .int(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .string(let value): value
        case .data(let value): value
        case .array(let values): values.map(\.foundation)
        case .object(let values): values.mapValues(\.foundation)
        }
    }

    /// The values of a dictionary of Objective-C.
    ///
    /// - Throws: ``RunarError`` 5003 when something in it is no value.
    fileprivate static func values(of dictionary: [String: Any]) throws -> [String: RunarValue] {
        try dictionary.mapValues { try RunarValue(foundation: $0, depth: 0) }
    }

    private init(foundation value: Any, depth: Int) throws {
        guard depth < Self.depthLimit else { throw Self.noValue("what is nested more than \(Self.depthLimit) deep") }
        switch value {
        case is NSNull: self = .null
        case let number as NSNumber: self = Self.number(number)
        case let text as String: self = .string(text)
        case let data as Data: self = .data(data)
        case let values as [Any]: self = .array(try values.map { try RunarValue(foundation: $0, depth: depth + 1) })
        case let values as [String: Any]:
            self = .object(try values.mapValues { try RunarValue(foundation: $0, depth: depth + 1) })
        default: throw Self.noValue("a \(type(of: value))")
        }
    }

    /// As deep as values in JSON nest.
    private static let depthLimit = 64

    private static func noValue(_ found: String) -> RunarError {
        .failure(
            .invalidParameters,
            message: "\(found) is no value: use NSNull, NSNumber, NSString, NSData, NSArray and NSDictionary"
        )
    }

    /// An NSNumber knows by its C type what was put into it.
    private static func number(_ number: NSNumber) -> RunarValue {
        if CFGetTypeID(number) == CFBooleanGetTypeID() { return .bool(number.boolValue) }
        return switch UInt8(bitPattern: unsafe number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): .double(number.doubleValue)
        default: Int64(exactly: number).map { .int($0) } ?? .double(number.doubleValue)
        }
    }
}
#endif

internal import HTTPAPI
package import NodeModel

/// The values of the parameters in the path of an operation.
package protocol PathParameters: Sendable {
    /// The names of the parameters in the template, without braces, in their order.
    static var names: [String] { get }

    /// - Throws: ``RouteFailure`` that names the parameter.
    init(parameters: [String: String]) throws

    /// The values by the names of the parameters in the template.
    var parameters: [String: String] { get }
}

/// The only parameter in a path.
package protocol PathParameter: PathParameters {
    /// The name in the template, without braces.
    static var parameter: String { get }

    /// - Throws: ``RouteFailure`` that names the parameter.
    init(segment: String) throws

    /// The value as a segment of a path, before percent-encoding.
    var segment: String { get }
}

extension PathParameter {
    package static var names: [String] { [parameter] }

    package init(parameters: [String: String]) throws { try self.init(segment: parameters[Self.parameter] ?? "") }

    package var parameters: [String: String] { [Self.parameter: segment] }
}

/// The path of an operation that has no parameter.
package struct NoPath: PathParameters {
    package static let names: [String] = []

    init() {}

    package init(parameters: [String: String]) throws {}

    package var parameters: [String: String] { [:] }
}

/// Two parameters in one path.
package struct PathPair<First: PathParameter, Second: PathParameter>: PathParameters {
    package static var names: [String] { First.names + Second.names }

    let first: First
    let second: Second

    package init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    package init(parameters: [String: String]) throws {
        first = try First(parameters: parameters)
        second = try Second(parameters: parameters)
    }

    package var parameters: [String: String] { first.parameters.merging(second.parameters) { first, _ in first } }
}

/// A network, or nil for the only one or all of them, which a path writes as ``NodeAPI/onlyNetwork``.
extension NetworkName?: PathParameters, PathParameter {
    package static var parameter: String { "network" }

    package init(segment: String) { self = segment == NodeAPI.onlyNetwork ? nil : NetworkName(form: segment) }

    package var segment: String { self?.text ?? NodeAPI.onlyNetwork }
}

extension PeerName: PathParameter {
    package static var parameter: String { "peer" }

    package init(segment: String) { self.init(form: segment) }

    package var segment: String { text }
}

/// A parameter that any text may be.
package protocol PathText: PathParameter {
    var text: String { get }

    init(_ text: String)
}

extension PathText {
    package init(segment: String) { self.init(segment) }

    package var segment: String { text }
}

extension PersonName: PathText {
    package static var parameter: String { "person" }
}

extension StreamName: PathText {
    package static var parameter: String { "stream" }
}

extension ConversationName: PathText {
    package static var parameter: String { "conversation" }
}

/// The name of a key: `root`, or that of a network's key.
package struct KeyName: PathText {
    package static let parameter = "key"
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// The public id of a thought, or its number.
package struct ThoughtName: PathText {
    package static let parameter = "thought"
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// The id of a received file.
package struct FileName: PathText {
    package static let parameter = "id"
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// The key of a setting.
package struct SettingName: PathText {
    package static let parameter = "key"
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// The number with which an update reported a request.
package struct RequestNumber: PathParameter {
    let value: Int

    package init(_ value: Int) {
        self.value = value
    }

    package static let parameter = "number"

    package init(segment: String) throws {
        guard let value = Int(segment), value >= 0 else { throw RouteRequest.badField("number", "must be a number") }
        self.value = value
    }

    package var segment: String { "\(value)" }
}

internal import HTTPAPI

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

    package init() {}

    package init(parameters: [String: String]) throws {}

    package var parameters: [String: String] { [:] }
}

/// Two parameters in one path.
package struct PathPair<First: PathParameter, Second: PathParameter>: PathParameters {
    package static var names: [String] { First.names + Second.names }

    package let first: First
    package let second: Second

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

/// A parameter that any text may be.
package protocol PathText: PathParameter {
    var text: String { get }

    init(_ text: String)
}

extension PathText {
    package init(segment: String) { self.init(segment) }

    package var segment: String { text }
}

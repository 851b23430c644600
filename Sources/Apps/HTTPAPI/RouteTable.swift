/// The routes of a server, found by method and path.
///
/// A literal segment of a template is preferred to a placeholder, from left to right. A path is compared byte by byte:
/// only the values of placeholders are decoded.
struct RouteTable: Sendable {
    /// The result of a search.
    enum Finding: Sendable {
        /// A route, and the values of its placeholders.
        case route(Route, [String: String])
        /// The path has routes, of these methods.
        case otherMethods(String)
        /// No route has the path.
        case none
    }

    /// A segment of a template.
    private enum Segment: Hashable, Sendable {
        case literal(String)
        case placeholder

        init(_ text: Substring) {
            self = text.hasPrefix("{") && text.hasSuffix("}") ? .placeholder : .literal(String(text))
        }
    }

    /// The routes whose templates differ only in the names of placeholders.
    private struct Entry: Sendable {
        let segments: [Segment]
        var routes: [Route]

        /// Whether each literal segment is that of `path`.
        func fits(_ path: [Substring]) -> Bool {
            zip(segments, path).allSatisfy { segment, text in
                switch segment {
                case .literal(let literal): literal.utf8.elementsEqual(text.utf8)
                case .placeholder: true
                }
            }
        }

        /// Whether it is tried before `other`: of two that fit a path, the first difference is a placeholder in one.
        func precedes(_ other: Entry) -> Bool {
            let (own, foreign) = (segments.map { $0 == .placeholder }, other.segments.map { $0 == .placeholder })
            return own.lexicographicallyPrecedes(foreign) { !$0 && $1 }
        }
    }

    /// By the number of segments, in the order in which they are tried.
    private let entries: [Int: [Entry]]

    init(_ routes: [Route]) {
        var byShape: [[Segment]: Entry] = [:]
        for route in routes {
            let segments = Self.split(route.template).map(Segment.init)
            byShape[segments, default: Entry(segments: segments, routes: [])].routes.append(route)
        }
        entries = Dictionary(grouping: byShape.values) { $0.segments.count }.mapValues { $0.sorted { $0.precedes($1) } }
    }

    /// Returns the route of a request, and the template of the path; HEAD finds the route of GET.
    func find(_ method: String, _ path: String) -> (finding: Finding, template: String?) {
        let texts = Self.split(path)
        guard path.first == "/", let entry = entries[texts.count]?.first(where: { $0.fits(texts) }),
            let first = entry.routes.first
        else { return (.none, nil) }
        let sought = method == "HEAD" ? Route.Method.get.rawValue : method
        let route = entry.routes.first { $0.method.rawValue == sought }
        guard let parameters = Self.parameters(of: route ?? first, texts) else { return (.none, nil) }
        guard let route else { return (.otherMethods(Self.methods(of: entry.routes)), first.template) }
        return (.route(route, parameters), route.template)
    }

    /// The methods of routes as in the field `Allow`.
    private static func methods(of routes: [Route]) -> String {
        routes.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] }.joined(separator: ", ")
    }

    /// Decodes the values of a route's placeholders; nil if one is malformed or empty.
    private static func parameters(of route: Route, _ texts: [Substring]) -> [String: String]? {
        var parameters: [String: String] = [:]
        for (segment, text) in zip(split(route.template), texts) where Segment(segment) == .placeholder {
            guard let value = PercentText.decode(text), !value.isEmpty else { return nil }
            parameters[String(segment.dropFirst().dropLast())] = value
        }
        return parameters
    }

    private static func split(_ path: String) -> [Substring] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }
}

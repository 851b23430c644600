package import Services

/// Paths of requests as literals; one that is malformed ends the test.
extension RequestPath: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) {
        do {
            try self.init(text)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

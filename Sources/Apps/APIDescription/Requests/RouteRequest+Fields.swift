internal import CommandModel
package import HTTPAPI

extension RouteRequest {
    /// Returns the failure for a field that is refused.
    package static func badField(_ name: String, _ why: String) -> RouteFailure {
        RouteFailure(
            400,
            "bad-field",
            "\"\(name)\" \(why)",
            context: ["field": name],
            exitCode: ExitStatus.usage.rawValue
        )
    }

    /// Returns a whole number of a form, within bounds.
    ///
    /// - Throws: ``RouteFailure`` that names the field.
    package static func number(
        _ number: Int?,
        _ name: String,
        in range: ClosedRange<Int>
    ) throws(RouteFailure) -> Int? {
        guard let number else { return nil }
        guard range.contains(number) else {
            throw badField(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

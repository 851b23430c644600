package import Foundation

/// The answer of the process that offers a service: a result in JSON, or the message of a failure.
package enum CallAnswer: Hashable, Sendable {
    case result(Data)
    case failure(String)
}

package import Foundation

/// What the process that offers a service answers to a request: a result in JSON, or a failure in words.
package enum CallAnswer: Hashable, Sendable {
    case result(Data)
    case failure(String)
}

internal import ArgumentParser
package import CommandModel

extension CommandFailure {
    /// Finds the word and the exit status for whatever a command threw.
    package init(ofCommand error: any Error) {
        switch error {
        case is CancellationError: self = .interrupted("interrupted before it was done")
        case let error as ValidationError: self.init("usage", .usage, error.message)
        default: self.init(error)
        }
    }

    /// The failure with its advice completed for this invocation.
    var withCompletedAdvice: CommandFailure { CommandFailure(code, status, Advice.completed(message)) }
}

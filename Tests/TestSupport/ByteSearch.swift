internal import Foundation

/// Whether `pattern` occurs in `bytes`.
package func occurs(_ pattern: [UInt8], in bytes: [UInt8]) -> Bool {
    precondition(!pattern.isEmpty, "an empty pattern occurs everywhere")
    return Data(bytes).range(of: Data(pattern)) != nil
}

/// Returns the names of which one of the patterns occurs in `bytes`.
package func occurring<Name: Hashable>(_ patterns: [Name: [[UInt8]]], in bytes: [UInt8]) -> Set<Name> {
    let data = Data(bytes)
    var found: Set<Name> = []
    for (name, patterns) in patterns {
        precondition(patterns.allSatisfy { $0.count >= 8 }, "a short pattern of \(name) occurs by chance")
        if patterns.contains(where: { data.range(of: Data($0)) != nil }) { found.insert(name) }
    }
    return found
}

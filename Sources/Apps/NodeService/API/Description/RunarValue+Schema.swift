internal import APIDescription
internal import RunarNode

extension RunarValue: SampleProviding {
    static var schema: JSONSchema { .any }

    static var sample: RunarValue { .null }
}

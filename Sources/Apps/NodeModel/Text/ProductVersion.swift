/// The version of the program, as in the changelog.
package enum ProductVersion {
    package static let text = "0.1.0"
}

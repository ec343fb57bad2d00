import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// One element of an XML document, without its namespace.
struct XMLElementNode {
    let name: String
    let attributes: [String: String]
    /// The line where its start tag ends, from 1.
    let line: Int
    fileprivate(set) var children: [XMLElementNode] = []
    /// The characters between its tags, without those of its children.
    fileprivate(set) var text = ""

    /// The value of an attribute; nil if it is missing or empty.
    subscript(_ attribute: String) -> String? { attributes[attribute].flatMap { $0.isEmpty ? nil : $0 } }

    /// Whether an attribute is set to `true`.
    func isTrue(_ attribute: String) -> Bool { self[attribute]?.lowercased() == "true" }

    /// The children of this name, in the order of the document.
    func all(_ name: String) -> [XMLElementNode] { children.filter { $0.name == name } }

    /// The first child of this name.
    func first(_ name: String) -> XMLElementNode? { children.first { $0.name == name } }

    /// The text as one line: white space at both ends is removed, elsewhere each run of it is one space.
    var oneLine: String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}

/// Reads an XML document into a tree. Files and addresses that the document names are not read.
final class XMLTreeReader: NSObject, XMLParserDelegate {
    /// The error in a document, with its line.
    struct Failure: Error {
        let line: Int
        let cause: String
    }

    /// The maximum number of levels of elements; deployment units use a dozen.
    static let maximumDepth = 100
    private var open: [XMLElementNode] = []
    private var root: XMLElementNode?
    private var failure: Failure?

    /// The root element of the document in `data`.
    static func root(of data: Data) throws(Failure) -> XMLElementNode {
        let reader = XMLTreeReader()
        let parser = XMLParser(data: data)
        parser.shouldProcessNamespaces = true
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        let isWellFormed = parser.parse()
        if let failure = reader.failure { throw failure }
        guard isWellFormed, let root = reader.root else {
            let code = (parser.parserError as NSError?).map { " (libxml2 error \($0.code))" } ?? ""
            throw Failure(line: max(parser.lineNumber, 1), cause: "not well-formed XML" + code)
        }
        return root
    }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard open.count < Self.maximumDepth else {
            failure = failure ?? Failure(line: parser.lineNumber, cause: "elements are nested deeper than \(Self.maximumDepth) levels")
            parser.abortParsing()
            return
        }
        open.append(XMLElementNode(name: elementName, attributes: attributes, line: max(parser.lineNumber, 1)))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard !open.isEmpty else { return }
        open[open.count - 1].text += string
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        guard !open.isEmpty else { return }
        open[open.count - 1].text += String(decoding: block, as: UTF8.self)
    }

    func parser(_ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?) {
        guard let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }
}

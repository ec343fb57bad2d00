// A client of the Worklight protocol in JavaScript, written from the specification of the original hybrid client (wlclient.js): its headers, its form encoding,
// its order of evaluation, its strictness. It is not that client. Every answer that the original could not read, or that the specification does not allow,
// ends it with status 1 and the reason.
//
// usage: node strict-client.js ROOT SCENARIO      ROOT such as http://127.0.0.1:8080/Demo
'use strict'
const http = require('http')
const zlib = require('zlib')

const root = process.argv[2]
const scenario = process.argv[3]
const appId = 'Demo', version = '1.0', environment = 'iphone'
const services = root + '/apps/services/'
const app = `${services}api/${appId}/${environment}/`
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 })

function refuse(reason) {
  console.error(reason)
  process.exit(1)
}
function require_(condition, reason) {
  if (!condition) refuse(reason)
}
function same(found, expected, what) {
  require_(JSON.stringify(found) === JSON.stringify(expected), `${what}: ${JSON.stringify(found)} in place of ${JSON.stringify(expected)}`)
}

// The state of the client, as the original keeps it.
const cookies = new Map()
let instanceId = null
let deviceId = '9848EC93-4C2B-4880-B898-33A9C442F2E5'
const identities = {}
const realms = { login: null }
const shown = []
let lastMessageId = null
// Realms that this session has satisfied: they must not be challenged again.
let satisfied = new Set()
// Realms that this session has named as satisfied: once each.
let log = []

/// A value that is not there is written as a bare name.
function form(fields) {
  return Object.keys(fields)
    .map((name) => (fields[name] === undefined ? encodeURIComponent(name) : encodeURIComponent(name) + '=' + encodeURIComponent(fields[name])))
    .join('&')
}

function exchange(method, url, headers, body) {
  return new Promise((resolve) => {
    const all = { Accept: 'text/javascript, text/html, application/xml, text/xml, */*', Origin: 'file://', 'Accept-Encoding': 'gzip, deflate', ...headers }
    if (cookies.size > 0) all.Cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const request = http.request(url, { method, agent, headers: all }, (response) => {
      const pieces = []
      response.on('data', (piece) => pieces.push(piece))
      response.on('end', () => resolve(read(url, response, Buffer.concat(pieces))))
    })
    request.on('error', (error) => refuse(`${url}: ${error}`))
    if (body !== undefined) request.write(body)
    request.end()
  })
}

/// Checks the form of an answer, and reads it as the original does.
function read(url, response, bytes) {
  const status = response.statusCode, headers = response.headers
  require_(status < 300 || status >= 400, `${url}: a redirection`)
  for (const field of headers['set-cookie'] || []) {
    const pair = field.split(';')[0]
    require_(/^[^=;,\s]+=[^;,\s]*$/.test(pair), `${url}: the cookie ${field}`)
    const [name, value] = pair.split('=')
    require_(/;\s*Path=\//.test(field), `${url}: a cookie without its path: ${field}`)
    if (name === 'WL_PERSISTENT_COOKIE') {
      const expires = Date.parse((/;\s*Expires=([^;]+)/.exec(field) || [])[1])
      require_(!isNaN(expires), `${url}: the persistent cookie does not last: ${field}`)
      require_(!cookies.has(name), `${url}: the persistent cookie is set again`)
    }
    if (name === 'JSESSIONID') {
      satisfied = new Set()
    }
    cookies.set(name, value)
  }
  const encoding = headers['content-encoding']
  require_(encoding === undefined || encoding === 'gzip', `${url}: the encoding ${encoding}`)
  if (encoding === 'gzip') bytes = zlib.gunzipSync(bytes)
  const text = bytes.toString('utf8')
  const type = headers['content-type'] || ''
  let json = null
  // The prefix is taken off whatever the type; a body that is not JSON is an error only under the type of JSON.
  const secured = /^\/\*-secure-([\s\S]*)\*\/\s*$/.exec(text)
  try {
    json = JSON.parse(secured ? secured[1] : text)
  } catch (error) {
    require_(type.indexOf('application/json') < 0, `${url}: not JSON, although it says so: ${text.slice(0, 80)}`)
  }
  if (type.indexOf('application/json') >= 0) {
    require_(type === 'application/json; charset=UTF-8', `${url}: the type ${type}`)
    require_(secured && secured[1].startsWith('\n{') && text.endsWith('}*/'), `${url}: JSON without its comment: ${text.slice(0, 80)}`)
    require_(/no-cache/.test(headers['cache-control'] || ''), `${url}: JSON that may be kept`)
    require_(json !== null && typeof json === 'object' && !Array.isArray(json), `${url}: not an object`)
  }
  require_(headers['wl-authentication-success'] === undefined, `${url}: identities in the header`)
  return { url, status, headers, text, json, type }
}

/// The own handlers of the platform. Returns the answer; undefined to go on without one.
const handlers = {
  wl_antiXSRFRealm(challenge) {
    require_(typeof challenge['WL-Instance-Id'] === 'string' && challenge['WL-Instance-Id'] !== '', 'anti-XSRF without its value')
    instanceId = challenge['WL-Instance-Id']
  },
  wl_deviceNoProvisioningRealm(challenge) {
    require_(typeof challenge.token === 'string', 'device without its token')
    const custom = scenario === 'long' ? { text: 'x'.repeat(2000) } : {}
    const ID = {
      token: challenge.token, app: { id: appId, version },
      device: { id: deviceId, os: '8.1.2', model: 'iPhone7,2', environment }, custom,
    }
    return { ID }
  },
  wl_remoteDisableRealm(challenge) {
    for (const name of ['message', 'messageId', 'messageType']) require_(typeof challenge[name] === 'string', `a notice without ${name}`)
    if (challenge.messageId !== lastMessageId) shown.push(challenge.message)
    lastMessageId = challenge.messageId
    return challenge.messageId
  },
}

/// Handlers of the application: they recognize a response.
const customHandlers = [
  {
    realm: 'form',
    isCustomResponse: (response) => response.text.indexOf('j_security_check') >= 0,
    async handle() {
      const params = { j_username: 'ada', j_password: realms.login }
      // A slash at the beginning: below the services. No WL-Instance-Id, no fields of the platform.
      const answer = await exchange(
        'POST', services + 'j_security_check',
        { 'X-Requested-With': 'XMLHttpRequest', 'x-wl-app-version': version, 'Content-Type': 'application/x-www-form-urlencoded' }, form(params))
      return !this.isCustomResponse(answer)
    },
  },
  {
    realm: 'adapter',
    isCustomResponse: (response) => response.json !== null && response.json.authRequired === true,
    async handle() {
      const answer = await send(root + '/invoke', { adapter: 'Login', procedure: 'submit', compressResponse: undefined, parameters: JSON.stringify(['bob', 'right']) }, true)
      return answer.json.authRequired === false
    },
  },
]

/// Sends a request of the platform, and goes through its challenges.
async function send(url, fields, isFromChallenge) {
  let answers = null
  for (let round = 0; round < 6; round++) {
    const headers = {
      'X-Requested-With': 'XMLHttpRequest', 'x-wl-app-version': version, 'x-wl-platform-version': '6.0.0', 'Accept-Language': 'en-US',
      'x-wl-native-version': '123456', 'x-wl-device-id': deviceId, 'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8',
    }
    if (instanceId !== null) headers['WL-Instance-Id'] = instanceId
    if (answers !== null) {
      const text = JSON.stringify(answers)
      if (text.length > 900) {
        // Too long for a header: it goes as the body of a request of its own, still under the type of a form.
        const early = await evaluate(await exchange('POST', app + 'authenticate', { ...headers, Authorization: 'wl-authorization-in-body' }, text))
        require_(early.status === 200, `answers in the body: status ${early.status}`)
        for (const realm of Object.keys(answers)) require_(realm in identities, `${realm} is not named after answers in the body`)
      } else {
        headers.Authorization = text
      }
    }
    const response = await evaluate(await exchange('POST', url, headers, form({ ...fields, isAjaxRequest: 'true', x: String(Math.random()) })))
    answers = null
    // Compared with case.
    if (response.status === 401 && response.headers['www-authenticate'] === 'WL-Composite-Challenge') {
      const challenges = response.json && response.json.challenges
      require_(challenges && Object.keys(challenges).length > 0, `${url}: a challenge without realms`)
      log.push(Object.keys(challenges).sort().join('+'))
      for (const realm of Object.keys(challenges)) {
        require_(realm in handlers, `${url}: there is no handler for ${realm}`)
        require_(!satisfied.has(realm), `${url}: ${realm} is challenged although it is satisfied`)
        let answer = handlers[realm](challenges[realm])
        // Text that is JSON is sent as that.
        if (typeof answer === 'string') {
          try {
            answer = JSON.parse(answer)
          } catch (error) {}
        }
        if (answer !== undefined) answers = { ...(answers || {}), [realm]: answer }
      }
      continue
    }
    require_(response.status !== 401, `${url}: a 401 that is no challenge`)
    if (response.status === 403) return response
    const handler = customHandlers.find((handler) => handler.isCustomResponse(response))
    if (!handler || isFromChallenge) return response
    log.push(handler.realm)
    if (!(await handler.handle())) return response
  }
  return refuse(`${url}: too many challenges`)
}

/// Takes the identities of a response, before anything else, whatever its status.
function evaluate(response) {
  const named = response.json && response.json['WL-Authentication-Success']
  for (const realm of Object.keys(named || {})) {
    require_(typeof named[realm] === 'object' && parseInt(named[realm].isUserAuthenticated) === 1, `${response.url}: ${realm} is named without an identity`)
    identities[realm] = named[realm]
    satisfied.add(realm)
  }
  if (response.status === 403) {
    const failures = response.json && response.json['WL-Authentication-Failure']
    require_(failures && Object.keys(failures).length > 0, `${response.url}: a 403 without its reason`)
  }
  return response
}

async function init() {
  const response = await send(app + 'init', { skin: 'default', skinLoaderChecksum: undefined })
  if (response.status !== 200) return response
  const answer = response.json
  for (const name of ['userInfo', 'gadgetProps', 'userPrefs', 'notificationSubscriptionState']) {
    require_(answer[name] !== null && typeof answer[name] === 'object', `init without ${name}`)
  }
  require_(answer.gadgetProps.ENVIRONMENT === environment, 'init names another environment')
  require_(typeof answer.gadgetProps.directUpdate === 'object', 'init without directUpdate')
  require_(Array.isArray(answer.notificationSubscriptionState.eventSources), 'init without event sources')
  require_(typeof answer.notificationSubscriptionState.token === 'string', 'init without the token')
  for (const key of Object.keys(answer.userPrefs)) require_(typeof answer.userPrefs[key] === 'string', `the preference ${key} is not a text`)
  return response
}

async function invoke(adapter, procedure, parameters) {
  const response = await send(app + 'query', {
    adapter, procedure, compressResponse: undefined, parameters: parameters === undefined ? undefined : JSON.stringify(parameters),
  })
  if (response.status === 200 && response.json !== null) {
    const isSuccessful = response.json.isSuccessful
    require_(typeof isSuccessful === 'boolean' || response.json.authRequired !== undefined, `${procedure}: isSuccessful is ${isSuccessful}`)
    if (isSuccessful === false) require_(Array.isArray(response.json.errors), `${procedure}: a failure without errors`)
  }
  return response.json
}

async function logout(realm) {
  // Without an entry of the realm, the original never calls back.
  require_(realm in identities, `${realm} was never named`)
  const response = await send(app + 'logout', { realm })
  same(response.status, 200, 'logout')
  delete identities[realm]
  satisfied.delete(realm)
}

const scenarios = {
  async whole() {
    const reach = await exchange('GET', services + 'reach', {})
    same([reach.status, reach.text], [200, 'OK'], 'reach')
    realms.login = 'right'
    await init()
    same(log, ['wl_antiXSRFRealm', 'wl_deviceNoProvisioningRealm'], 'the order of the challenges')
    require_(cookies.has('JSESSIONID') && cookies.has('WL_PERSISTENT_COOKIE'), 'a session without its cookies')
    log = []
    same((await invoke('Stock', 'echo', ['IBM', 7, 65.878, true, null, [1], { a: 'ü€😀' }])).parameters, ['IBM', 7, 65.878, true, null, [1], { a: 'ü€😀' }], 'parameters')
    same((await invoke('Stock', 'echo')).parameters, [], 'no parameters')
    same((await invoke('Stock', 'quotes', [1])).resultSet, [{ id: 1, name: 'IBM', price: 65.5 }, { id: 2, name: 'X', price: null }], 'rows')
    same((await invoke('Stock', 'fails')).errors, ['out of stock'], 'a failure')
    require_((await invoke('Stock', 'long')).text.length === 5000, 'a long answer')
    same(log, [], 'no further challenges')
    // Form.
    const mine = await invoke('Stock', 'mine')
    same([mine.user, mine.role], ['ada', 'r-ada'], 'a guarded procedure')
    same(log, ['form'], 'one login')
    same(identities.form.userId, 'ada', 'the identity of the form')
    same((await send(app + 'getuserinfo', {})).json.form.userId, 'ada', 'getuserinfo')
    await logout('form')
    log = []
    await invoke('Stock', 'mine')
    same(log, ['form'], 'a login after the logout')
    // Adapter.
    log = []
    same((await invoke('Stock', 'adapterMine')).user, 'bob', 'a procedure guarded by an adapter')
    same(log, ['adapter'], 'one login of the adapter')
    require_('adapter' in identities, 'the realm of the adapter was never named')
    await logout('adapter')
    // On demand.
    require_((await send(app + 'login', { realm: 'form' })).json.form.userId === 'ada', 'login on demand')
    // Preferences, push, activities, signs of life, updates.
    same((await send(app + 'setup', { userprefs: JSON.stringify({ a: '1', b: '2' }) })).status, 200, 'setup')
    same((await send(app + 'deleteup', { userprefkey: 'a' })).status, 200, 'deleteup')
    same((await send(app + 'notifications', { updateToken: '00ff' })).status, 200, 'updateToken')
    const source = { alias: '7', adapter: 'Stock', eventSource: 'prices' }
    same((await send(app + 'notifications', { subscribe: JSON.stringify({ alert: true, sound: false, badge: true }), ...source })).status, 200, 'subscribe')
    const state = (await init()).json
    same(state.userPrefs, { b: '2' }, 'preferences')
    same(state.notificationSubscriptionState, { token: '00ff', eventSources: [{ alias: '7', adapter: 'Stock', eventSource: 'prices' }] }, 'push')
    same((await send(app + 'notifications', { unsubscribe: '', ...source })).status, 200, 'unsubscribe')
    same((await init()).json.notificationSubscriptionState.eventSources, [], 'no subscriptions')
    for (const name of ['heartbeat', 'authenticate', 'events', 'updates', 'appversionaccess']) same((await send(app + name, {})).status, 200, name)
    same((await send(app + 'logactivity', { activity: 'bought' })).status, 200, 'logactivity')
    const composite = (await send(app + 'composite', { requests: JSON.stringify(['appversionaccess', 'updates']) })).json
    for (const name of ['appversionaccess', 'updates']) require_(composite[name] && typeof composite[name].response === 'object', `composite without ${name}`)
  },

  // The device's answer is longer than 900 characters.
  async long() {
    await init()
    same((await invoke('Stock', 'echo', [1])).parameters, [1], 'a call')
  },

  async wrongPassword() {
    realms.login = 'wrong'
    await init()
    const response = await send(app + 'query', { adapter: 'Stock', procedure: 'mine', compressResponse: undefined, parameters: '[]' })
    require_(response.text.indexOf('j_security_check') >= 0 && response.status === 200, 'a wrong password brings the page')
    require_(!('form' in identities), 'an identity without a login')
  },

  // The least that clients without the platform's library send: no initialization, no body or a body without the platform's fields, and one header.
  async minimal() {
    const plain = async (path, headers, fields) => {
      const type = fields === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }
      return exchange('POST', app + path, { 'x-wl-app-version': version, ...type, ...headers }, fields === undefined ? undefined : form(fields))
    }
    const first = await plain('init', {})
    same(Object.keys(first.json.challenges), ['wl_antiXSRFRealm'], 'the first challenge')
    const instance = { 'WL-Instance-Id': first.json.challenges.wl_antiXSRFRealm['WL-Instance-Id'] }
    const call = { adapter: 'Stock', procedure: 'echo', parameters: '[7]' }
    const second = await plain('query', instance, call)
    same([second.status, Object.keys(second.json.challenges)], [401, ['wl_deviceNoProvisioningRealm']], 'a call without an initialization')
    const ID = { app: { id: appId, version }, custom: {}, device: { environment, id: deviceId, model: 'unknown', os: '7.1.0' },
      token: second.json.challenges.wl_deviceNoProvisioningRealm.token }
    const third = await plain('query', { ...instance, Authorization: JSON.stringify({ wl_deviceNoProvisioningRealm: { ID } }) }, call)
    same([third.status, third.json.parameters, Object.keys(third.json['WL-Authentication-Success'])], [200, [7], ['wl_deviceNoProvisioningRealm']], 'the call')
    same((await plain('query', instance, call)).json.parameters, [7], 'the next call')
    same((await plain('logout', instance, { realm: 'wl_deviceNoProvisioningRealm', isAjaxRequest: '1', x: '0' })).status, 200, 'logout')
  },

  async notified() {
    await init()
    same(log, ['wl_antiXSRFRealm+wl_remoteDisableRealm', 'wl_deviceNoProvisioningRealm'], 'the order of the challenges')
    same(shown, ['Maintenance'], 'messages')
    same((await invoke('Stock', 'echo', [1])).parameters, [1], 'a call')
    same(shown, ['Maintenance'], 'messages')
  },

  async disabled() {
    const response = await init()
    same(response.status, 403, 'a disabled version')
    const failure = response.json['WL-Authentication-Failure'].wl_remoteDisableRealm
    same([failure.message, failure.downloadLink], ['Please upgrade', 'https://example.org/app'], 'its reason')
  },

  // The session is unknown to the server: a new one, with all challenges again, without the caller noticing.
  async expired() {
    realms.login = 'right'
    await init()
    await invoke('Stock', 'mine')
    cookies.set('JSESSIONID', 'unknown')
    log = []
    same((await invoke('Stock', 'mine')).user, 'ada', 'a call after the end of the session')
    same(log, ['wl_antiXSRFRealm', 'wl_deviceNoProvisioningRealm', 'form'], 'the challenges of the new session')
  },
}

scenarios[scenario]().then(() => {
  agent.destroy()
  console.log('accepted')
})
